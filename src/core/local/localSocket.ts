/**
 * The socket of the local commands: its place, and the rules for the place and for its clients. Pure. The kernel lets
 * only its owner and its group connect; a client also proves who it is by a file that it creates, because Node has no
 * SO_PEERCRED.
 */

/** Path where a client asks for a name and then for a session. */
export const SESSION_PATH = "/rxlet/v1/session";
/** The only mode of the socket's directory: the group may search it. */
export const PLACE_MODE = 0o750;
/** Longest proof that is read, in bytes; a challenge is shorter. */
export const MAX_PROOF_BYTES = 256;

/** Places where commands look for the socket of a node: that of the package first, then the default. */
export const USUAL_SOCKETS: readonly string[] = ["/run/rxlet/local.sock", "/var/lib/kubelet/local/local.sock"];

/** The user and the group that may use the socket. */
export interface LocalRules {
  /** User of the daemon. */
  readonly uid: number;
  /** Group that may use the socket. Absent: only root and the user of the daemon. */
  readonly gid: number | undefined;
}

/** A client: the owner of the file that it created. */
export interface LocalPeer {
  readonly uid: number;
  readonly gid: number;
}

/** Facts of a file or directory, as lstat(2) reports them. */
export interface PlaceFacts extends LocalPeer {
  readonly kind: "directory" | "socket" | "file" | "other";
  /** Permission bits, with the sticky bit. */
  readonly mode: number;
  readonly links: number;
}

/**
 * Returns the path of the socket; undefined when the node has none. `flag` is that of --local-socket: a path, `off`, or
 * empty for the default, which is a socket below the root directory on a standalone node, and none in a cluster.
 */
export function localSocketPath(flag: string, rootDir: string, isStandalone: boolean): string | undefined {
  if (flag === "off") return undefined;
  if (flag !== "") return flag;
  return isStandalone ? `${rootDir}/local/local.sock` : undefined;
}

/** Directory in which clients create their files. */
export const proofDirectory = (socketDirectory: string): string => `${socketDirectory}/peers`;

/** Mode of that directory: the group creates files and removes only its own, and nobody else lists it. */
export const proofDirectoryMode = ({ gid }: LocalRules): number => (gid === undefined ? 0o700 : 0o1730);

/** Mode of the socket. */
export const socketMode = ({ gid }: LocalRules): number => (gid === undefined ? 0o600 : 0o660);

const [OTHERS_WRITE, GROUP_WRITE, STICKY] = [0o002, 0o020, 0o1000];
const octal = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, "0");

/** Returns why a directory above the socket lets others replace the socket; undefined when it does not. */
export function ancestorFault(path: string, facts: PlaceFacts, { uid }: Pick<LocalRules, "uid">): string | undefined {
  if (facts.kind !== "directory") return `${path} is not a directory`;
  if (facts.uid !== 0 && facts.uid !== uid) return `${path} belongs to user ${facts.uid}, who could replace the socket`;
  const isOpen = (facts.mode & OTHERS_WRITE) !== 0 || ((facts.mode & GROUP_WRITE) !== 0 && facts.gid !== 0);
  if (isOpen && (facts.mode & STICKY) === 0)
    return `${path} has mode ${octal(facts.mode)}: others could replace the socket`;
  return undefined;
}

/** Returns why the directory of the socket is not private; undefined when it is. */
export function placeFault(path: string, facts: PlaceFacts, { uid }: Pick<LocalRules, "uid">): string | undefined {
  if (facts.kind !== "directory") return `${path} is not a directory`;
  if (facts.uid !== uid) return `${path} belongs to user ${facts.uid} instead of ${uid}`;
  if ((facts.mode & 0o027) !== 0)
    return `${path} has mode ${octal(facts.mode)}: the socket needs a directory of its own with mode 0750`;
  return undefined;
}

/** Returns why the group cannot reach the socket through this directory; undefined when it can. */
export function groupFault(path: string, facts: PlaceFacts, { gid }: LocalRules): string | undefined {
  if (gid === undefined || (facts.mode & 0o001) !== 0) return undefined;
  if (facts.gid === gid && (facts.mode & 0o010) !== 0) return undefined;
  return `group ${gid} may not search ${path}`;
}

/** Returns why the owner of a proof is no client of this socket; undefined when the proof holds. */
export function proofFault(
  facts: PlaceFacts,
  content: string,
  challenge: string,
  { uid, gid }: LocalRules,
): string | undefined {
  if (facts.kind !== "file" || facts.links !== 1) return "it is not a file of its own";
  // A file that another program made, and that was moved here, does not hold the challenge.
  if (content !== challenge) return "it does not hold the challenge";
  if (facts.uid === 0 || facts.uid === uid) return undefined;
  if (gid === undefined) return `user ${facts.uid} is not root, and no group is allowed`;
  // chown(2) gives a file only to groups that its owner belongs to.
  return facts.gid === gid ? undefined : `user ${facts.uid} does not belong to group ${gid}`;
}

/** Returns why a command does not trust a socket; undefined when only root or its own user can serve there. */
export function serverFault(
  socket: string,
  facts: PlaceFacts,
  directory: PlaceFacts,
  ownUid: number,
): string | undefined {
  const owners = [0, ownUid];
  if (facts.kind !== "socket") return `${socket} is not a socket`;
  if (!owners.includes(facts.uid)) return `${socket} belongs to user ${facts.uid}`;
  if (!owners.includes(directory.uid)) return `the directory of ${socket} belongs to user ${directory.uid}`;
  const isOpen = (directory.mode & (OTHERS_WRITE | GROUP_WRITE)) !== 0;
  return isOpen ? `the directory of ${socket} has mode ${octal(directory.mode)}` : undefined;
}

/** Returns the ID of a group that is given by name or number, by the lines of /etc/group; undefined when unknown. */
export function groupId(group: string, lines: string): number | undefined {
  if (/^\d{1,10}$/.test(group)) return Number(group) <= 0xffff_fffe ? Number(group) : undefined;
  for (const line of lines.split("\n")) {
    const [name, , id = ""] = line.split(":");
    if (name === group && /^\d{1,10}$/.test(id)) return Number(id);
  }
  return undefined;
}
