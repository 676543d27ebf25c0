/** Finds the socket of the local commands among those that systemd passed to this process. */
import fs from "node:fs";
import { kubeletError } from "../core/errors.ts";
import { ioError } from "../core/ioError.ts";
import { valueOf } from "../core/result.ts";
import { listeningPath, passedSockets, type SocketVariables } from "../core/systemd/passedSockets.ts";
import { readWhole } from "../fileSystem/regularFile.ts";
import type { Logger } from "../ports/telemetry.ts";

/** FileDescriptorName in packaging/rxlet.socket. */
const NAME = "local";
const UNIX_SOCKETS = "/proc/net/unix";
/** The sockets of a machine with some hundred thousand connections. */
const MAX_TABLE_BYTES = 32 * 1024 * 1024;

/** An open socket that listens, and where clients find it. */
export interface PassedLocalSocket {
  readonly fd: number;
  readonly path: string;
}

/**
 * Resolves with the socket; undefined when systemd passed none. Warns of sockets that rxlet does not know. Rejects with
 * InvalidArgument for variables that systemd never sets, two sockets of the name, and one that does not listen at a path.
 */
export async function passedLocalSocket(
  variables: SocketVariables,
  pid: number,
  log: Pick<Logger, "warn">,
): Promise<PassedLocalSocket | undefined> {
  const all = valueOf(passedSockets(variables, pid));
  for (const { name } of all.filter((socket) => socket.name !== NAME)) {
    log.warn("systemd passed a socket that rxlet does not use: its FileDescriptorName is not local", { name });
  }
  const [socket, ...others] = all.filter(({ name }) => name === NAME);
  if (socket === undefined) return undefined;
  if (others.length > 0) throw fault(`${others.length + 1} of them have the name ${NAME}`);
  const table = await readWhole(UNIX_SOCKETS, MAX_TABLE_BYTES);
  const path = listeningPath(inodeOf(socket.fd), table.toString("utf8"));
  if (path === undefined) throw fault(`${NAME} is not a Unix stream socket that listens at a path`);
  return { fd: socket.fd, path };
}

function inodeOf(fd: number): number {
  try {
    return fs.fstatSync(fd).ino;
  } catch (thrown) {
    throw ioError("use the socket of systemd with the descriptor", String(fd), thrown);
  }
}

const fault = (why: string) => kubeletError("InvalidArgument", `cannot use the sockets of systemd: ${why}`);
