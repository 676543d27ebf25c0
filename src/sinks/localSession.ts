/**
 * Opens a session on the local socket of a node: shows the user of this process by a file, which only that user can have
 * created. Trusts a socket of root or of its own user alone.
 */
import * as fs from "node:fs/promises";
import path from "node:path";
import { switchMap, map, type Observable } from "rxjs";
import type { KubeletAccess, LocalSession } from "../core/auth/kubeletAccess.ts";
import { type KubeletError, kubeletError } from "../core/errors.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import { parseJson } from "../core/json.ts";
import { proofDirectory, serverFault, SESSION_PATH } from "../core/local/localSocket.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Clock } from "../ports/clock.ts";
import { askKubelet, type TextAnswer } from "./askKubelet.ts";
import { factsOf } from "./localPeers.ts";

/** Base URL of requests on the socket; the host is never looked up. */
export const LOCAL_URL = "http://localhost";

/** Returns the credentials for requests in a session. */
export const accessIn = (session: LocalSession): KubeletAccess => ({
  ...{ certificateAuthority: "", insecure: false, clientCertificate: "", clientKey: "", tokenFile: "" },
  local: session,
});

/** Emits the session. Errors: PermissionDenied for another user or an untrusted socket; Unavailable without a server. */
export const openLocalSession = (socket: string, clock: Clock): Observable<LocalSession> =>
  fromCall(() => trusted(socket)).pipe(
    switchMap(() => request(socket, "", clock)),
    switchMap((answer) => {
      const challenge = field(answer, "challenge", socket);
      return fromCall(() => prove(socket, challenge)).pipe(
        switchMap(() => request(socket, `?challenge=${challenge}`, clock)),
      );
    }),
    map((answer) => ({ socket, token: field(answer, "token", socket) })),
  );

const request = (socket: string, query: string, clock: Clock): Observable<TextAnswer> =>
  askKubelet("POST", `${LOCAL_URL}${SESSION_PATH}${query}`, accessIn({ socket, token: "" }), clock);

async function trusted(socket: string): Promise<void> {
  try {
    const fault = serverFault(
      socket,
      await factsOf(socket),
      await factsOf(path.dirname(await fs.realpath(socket))),
      process.getuid?.() ?? -1,
    );
    if (fault !== undefined) throw kubeletError("PermissionDenied", `the socket is not trusted: ${fault}`);
    // A connection needs write permission; its own error would read as if nothing served there.
    await fs.access(socket, fs.constants.W_OK);
  } catch (thrown) {
    throw denied(socket, thrown) ?? ioError("use", socket, thrown);
  }
}

/** Creates the proof. The name was checked, so a server cannot choose another place. */
async function prove(socket: string, challenge: string): Promise<void> {
  const proof = path.join(proofDirectory(path.dirname(path.resolve(socket))), challenge);
  try {
    const { gid } = await fs.lstat(socket);
    await using file = await fs.open(proof, "wx", 0o600);
    await file.writeFile(challenge);
    // Shows that this user belongs to the group of the socket. The server says what is wrong with a user who does not.
    await file.chown(process.getuid?.() ?? -1, gid).catch(() => undefined);
    await file.chmod(0o644);
  } catch (thrown) {
    throw denied(socket, thrown) ?? ioError("create", proof, thrown);
  }
}

const denied = (socket: string, thrown: unknown): KubeletError | undefined =>
  ["EACCES", "EPERM"].includes(errnoOf(thrown))
    ? kubeletError("PermissionDenied", `this user may not use ${socket}: only root and the group of the socket may`)
    : undefined;

function field({ status, text }: TextAnswer, name: string, socket: string): string {
  const value = (parseJson(text) as Readonly<Record<string, unknown>> | undefined)?.[name];
  if (status === 200 && typeof value === "string" && /^[0-9a-f]{64}$/.test(value)) return value;
  const said = text.trim().slice(0, 1_000);
  throw status === 403
    ? kubeletError("PermissionDenied", `${socket}: ${said}`)
    : kubeletError("Unknown", `${socket} answered ${status}: ${said}`);
}
