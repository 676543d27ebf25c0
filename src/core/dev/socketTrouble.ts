/** Explains why the socket of a runtime of this machine cannot be used. */

/** Runtimes of the machine. */
export type MachineRuntime = "docker" | "containerd";

/** The socket as `stat` shows it; absent where it cannot be seen. */
export interface SocketFacts {
  readonly isSocket: boolean;
  /** Names of owner and group. */
  readonly owner: string;
  readonly group: string;
  /** Permission bits. */
  readonly mode: number;
}

/** Name of a runtime at the start of a sentence. */
export const RUNTIME_TITLE: Readonly<Record<MachineRuntime, string>> = { docker: "Docker", containerd: "containerd" };

/** Returns the reason, given the errno name with which a connection failed. */
export function socketTrouble(
  runtime: MachineRuntime,
  path: string,
  errno: string,
  facts: SocketFacts | undefined,
): string {
  const title = RUNTIME_TITLE[runtime];
  if (facts?.isSocket === false) return `${path} is not a socket: --runtime-endpoint names the socket of ${title}`;
  switch (errno) {
    case "ENOENT":
      return `there is no socket ${path}: ${title} is not installed or does not run, or its socket is elsewhere (--runtime-endpoint)`;
    case "ECONNREFUSED":
      return `nothing listens on ${path}: ${title} does not run`;
    case "EACCES":
    case "EPERM":
      return `this user may not use ${path}${facts === undefined ? "" : permission(facts)}`;
    default:
      return `cannot connect to ${path}: ${errno}`;
  }
}

function permission({ owner, group, mode }: SocketFacts): string {
  const maysGroup = (mode & 0o020) !== 0 && group !== "root";
  const way = maysGroup ? `run as ${owner} or as a member of the group ${group}` : `run as ${owner}`;
  return ` (${owner}:${group}, mode ${(mode & 0o7777).toString(8).padStart(4, "0")}): ${way}`;
}
