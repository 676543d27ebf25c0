/** Sockets that systemd opened for this service and passes to its process: sd_listen_fds(3). Pure. */
import { type KubeletError, kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** The variables that systemd sets for a service with sockets. */
export interface SocketVariables {
  readonly LISTEN_PID?: string | undefined;
  readonly LISTEN_FDS?: string | undefined;
  readonly LISTEN_FDNAMES?: string | undefined;
}

/** An open socket: its file descriptor, and the FileDescriptorName of its unit. */
export interface PassedSocket {
  readonly fd: number;
  readonly name: string;
}

/** The first file descriptor that systemd passes. */
const FIRST_FD = 3;
/** More sockets than a service has. */
const MAX_SOCKETS = 64;
/** The name of a socket whose unit gives none, as in systemd. */
const NAMELESS = "unknown";

/**
 * Returns the sockets that systemd passes to the process with this id; none when they are meant for another process, or
 * when there is no systemd. Errors: InvalidArgument for a count that is not a number from 0 to MAX_SOCKETS.
 */
export function passedSockets(variables: SocketVariables, pid: number): Result<readonly PassedSocket[]> {
  const { LISTEN_PID: owner, LISTEN_FDS: count = "", LISTEN_FDNAMES: names = "" } = variables;
  if (owner !== String(pid)) return ok([]);
  if (!/^\d{1,3}$/.test(count) || Number(count) > MAX_SOCKETS) return err(countFault(count));
  const named = names.split(":");
  return ok(
    Array.from({ length: Number(count) }, (_, index) => ({ fd: FIRST_FD + index, name: nameAt(named, index) })),
  );
}

const nameAt = (names: readonly string[], index: number): string => {
  const name = names[index] ?? "";
  return name === "" ? NAMELESS : name;
};

const countFault = (count: string): KubeletError =>
  kubeletError(
    "InvalidArgument",
    `cannot use the sockets of systemd: LISTEN_FDS ${JSON.stringify(count)} is not a number from 0 to ${MAX_SOCKETS}`,
  );

/** The columns of /proc/net/unix that tell a stream socket that listens: `__SO_ACCEPTCON`, and `SOCK_STREAM`. */
const [LISTENS, STREAM] = ["00010000", "0001"];

/**
 * Returns the path of the Unix stream socket with this inode that listens, by the lines of /proc/net/unix; undefined for
 * any other socket.
 */
export function listeningPath(inode: number, table: string): string | undefined {
  for (const line of table.split("\n")) {
    const [, flags, type, number, path = ""] = /^\S+ \S+ \S+ (\S+) (\S+) \S+ +(\d+) (\/.*)$/.exec(line) ?? [];
    if (Number(number) === inode && flags === LISTENS && type === STREAM) return path;
  }
  return undefined;
}
