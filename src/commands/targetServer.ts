/**
 * Finds the kubelet server that a command sends requests to: the one in its flags, a running `rxlet dev` of this user, or
 * the local socket of the node.
 */
import { lstat, realpath } from "node:fs/promises";
import path from "node:path";
import { catchError, map, type MonoTypeOperatorFunction, type Observable, of, switchMap, throwError } from "rxjs";
import type { KubeletTarget, LocalTarget } from "../cli/targetFlags.ts";
import type { KubeletAccess } from "../core/auth/kubeletAccess.ts";
import { chooseDev } from "../core/dev/chooseDev.ts";
import { accessOf } from "../core/dev/devInstance.ts";
import { type KubeletError, kubeletError, toKubeletError } from "../core/errors.ts";
import { USUAL_SOCKETS } from "../core/local/localSocket.ts";
import { valueOf } from "../core/result.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Call } from "../ports/call.ts";
import { accessIn, LOCAL_URL, openLocalSession } from "../sinks/localSession.ts";
import { systemClock } from "../sources/systemClock.ts";
import { runningDevs } from "./devInstances.ts";

/** The server's address, and the credentials for it. */
export interface TargetServer {
  readonly url: string;
  /** Names the server in messages. */
  readonly name: string;
  readonly access: KubeletAccess;
  /** Set if no flag names the server and no `rxlet dev` runs: the URL is only the default. */
  readonly isGuess: boolean;
}

const NO_CREDENTIALS: KubeletAccess = {
  certificateAuthority: "",
  insecure: false,
  clientCertificate: "",
  clientKey: "",
  tokenFile: "",
};

/** Emits the server. Errors: NotFound or InvalidArgument if no single `rxlet dev` matches; those of the local socket. */
export const targetServer = (target: KubeletTarget): Call<TargetServer> => {
  if (target.kind === "server") return of({ url: target.url, name: target.url, access: target.access, isGuess: false });
  if (target.kind === "socket") return onSocket(target.path);
  return fromCall(() => found(target)).pipe(
    switchMap((server) => (typeof server === "string" ? onSocket(server) : of(server))),
  );
};

/** Emits the server on the local socket of a node. Errors: NotFound without a socket. */
export const localServerOf = (target: LocalTarget): Call<TargetServer> =>
  fromCall(async () => (target.kind === "socket" ? target.path : await usualSocket())).pipe(
    switchMap((socket) =>
      socket === undefined
        ? throwError(() =>
            kubeletError(
              "NotFound",
              `no node has a local socket here (${USUAL_SOCKETS.join(", ")}); --socket names another place`,
            ),
          )
        : onSocket(socket),
    ),
  );

const onSocket = (socket: string): Observable<TargetServer> =>
  openLocalSession(socket, systemClock).pipe(
    map((session) => ({ url: LOCAL_URL, name: socket, access: accessIn(session), isGuess: false })),
    unanswered({ name: socket, isGuess: false }),
  );

/** Returns a server, or the path of the local socket. */
async function found(target: Extract<KubeletTarget, { kind: "dev" }>): Promise<TargetServer | string> {
  const chosen = valueOf(
    chooseDev(await runningDevs(), {
      dir: target.dir === undefined ? undefined : await withoutLinks(target.dir),
      kubeconfig: process.env["KUBECONFIG"] ?? "",
      cwd: await withoutLinks("."),
    }),
  );
  if (chosen !== undefined)
    return { url: chosen.server, name: chosen.server, access: accessOf(chosen), isGuess: false };
  const guess = { url: target.otherwise, name: target.otherwise, access: NO_CREDENTIALS, isGuess: true };
  return (await usualSocket()) ?? guess;
}

/** Returns the first usual socket that is there. */
async function usualSocket(): Promise<string | undefined> {
  for (const socket of USUAL_SOCKETS) {
    const isThere = await lstat(socket).then(
      (stats) => stats.isSocket(),
      () => false,
    );
    if (isThere) return socket;
  }
  return undefined;
}

const withoutLinks = (directory: string): Promise<string> => realpath(directory).catch(() => path.resolve(directory));

/** Returns the error for a response that rejects the user (401, 403); undefined for other responses. */
export function refusalOf({ name }: TargetServer, status: number, said: string): KubeletError | undefined {
  if (status === 401)
    return kubeletError("PermissionDenied", `${name} needs credentials: give --client-certificate or --token-file`);
  return status === 403 ? kubeletError("PermissionDenied", `${name}: ${said}`) : undefined;
}

/** Replaces the error of an unreachable server by one with advice; `hint` names another possible cause. */
export const unanswered = <T>(
  { name, isGuess }: Pick<TargetServer, "name" | "isGuess">,
  hint?: string,
): MonoTypeOperatorFunction<T> =>
  catchError((thrown: unknown) => {
    const { code, message } = toKubeletError(thrown);
    if (code !== "Unavailable") return throwError(() => thrown);
    const nothing = isGuess ? "you have no rxlet dev running, and " : "";
    const hints = [...(hint === undefined ? [] : [hint]), ...(isGuess ? ["--server names another kubelet"] : [])];
    const why = [`${nothing}no rxlet answers at ${name} (${message})`, ...hints].join("; ");
    return throwError(() => kubeletError("Unavailable", why));
  });
