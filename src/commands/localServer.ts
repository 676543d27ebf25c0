/**
 * The socket of the local commands on a daemon. Loaded only by nodes that have it; its routes are loaded by the first
 * client. A socket that cannot be made safely is reported and tried again: the pods do not depend on it.
 */
import { readFile } from "node:fs/promises";
import { defer, from, ignoreElements, type Observable, retry, switchMap, tap, timer } from "rxjs";
import { toKubeletError, kubeletError } from "../core/errors.ts";
import { groupId, socketMode } from "../core/local/localSocket.ts";
import { localListener } from "../server/local/localListener.ts";
import { type LocalPlace, prepareLocalPlace } from "../sinks/localPeers.ts";
import type { LocalHttpSetup } from "./localHttp.ts";

const RETRY_MS = 30_000;

export interface LocalServerSetup extends Omit<LocalHttpSetup, "place"> {
  readonly socket: string;
  /** Descriptor of the socket if systemd passed it. */
  readonly fd?: number | undefined;
}

/** Serves while subscribed. Never emits, never errors. */
export function localServer({ socket, fd, ...setup }: LocalServerSetup): Observable<never> {
  const { log, ports, options } = setup;
  return defer(() => from(placeOf(socket, options.flags.localSocketGroup))).pipe(
    switchMap((place) =>
      from(prepareLocalPlace(place)).pipe(
        tap((warnings) => {
          for (const reason of warnings) log.warn("The group cannot reach the local socket", { socket, reason });
        }),
        switchMap(() =>
          localListener({
            ...{ socket, fd },
            mode: socketMode(place),
            gid: place.gid,
            load: async () => {
              const { localHttp } = await import("./localHttp.ts");
              return localHttp({ ...setup, place });
            },
            onProblem: (problem) =>
              log.error("Failed to serve local commands", { socket, error: toKubeletError(problem) }),
          }),
        ),
        tap(() => log.info("Serving", { server: "local", socket, uid: place.uid, gid: place.gid })),
      ),
    ),
    ignoreElements(),
    retry({
      delay: (thrown: unknown) => {
        log.error("The local socket stays off", { socket, error: toKubeletError(thrown), retryInMs: RETRY_MS });
        return timer(RETRY_MS, ports.clock.scheduler);
      },
    }),
  );
}

async function placeOf(socket: string, group: string): Promise<LocalPlace> {
  const uid = process.getuid?.() ?? -1;
  if (group === "") return { socket, uid, gid: undefined };
  const gid = groupId(group, await readFile("/etc/group", "utf8").catch(() => ""));
  if (gid !== undefined) return { socket, uid, gid };
  throw kubeletError(
    "InvalidArgument",
    `--local-socket-group: there is no group ${JSON.stringify(group)} in /etc/group`,
  );
}
