/** The mount table as the kernel prints it in /proc/self/mountinfo; see proc_pid_mountinfo(5). */

/** What a mount does with mounts made below it. */
export interface MountPropagation {
  /** Peer group it shares mounts with (`shared:N`). */
  readonly sharedWith?: number;
  /** Peer group it receives mounts from (`master:N`). */
  readonly receivesFrom?: number;
  /** It cannot be bound elsewhere. */
  readonly isUnbindable: boolean;
}

/** One mount of a mount namespace. */
export interface MountEntry {
  /** Unique among the mounts of now; a later mount may have it again. */
  readonly id: number;
  /** Of the mount it is mounted on; its own or a stranger's for the root. */
  readonly parentId: number;
  /** `major:minor`: equal for all mounts of one file system. */
  readonly device: string;
  /** The directory or file of the file system that is seen here; `/` unless it is bound. */
  readonly root: string;
  /** Where it is, as seen from the root of this process. */
  readonly mountPoint: string;
  /** Of this mount alone: `ro`, `nosuid` ... */
  readonly options: readonly string[];
  readonly propagation: MountPropagation;
  readonly fsType: string;
  readonly source: string;
  /** Of the file system: `ro`, `size=1024k` ... */
  readonly superOptions: readonly string[];
}

/** Fields before the optional ones. */
const FIXED_FIELDS = 6;

/** The entries in their order; lines that are none are left out. */
export function parseMountInfo(text: string): readonly MountEntry[] {
  return text.split("\n").flatMap((line) => parseLine(line) ?? []);
}

function parseLine(line: string): MountEntry | undefined {
  const fields = line.split(" ");
  const end = fields.indexOf("-", FIXED_FIELDS);
  const [id = "", parentId = "", device = "", root = "", mountPoint = "", options = ""] = fields;
  if (end < 0) return undefined;
  const [fsType = "", source = "", superOptions = ""] = fields.slice(end + 1);
  return {
    id: Number(id),
    parentId: Number(parentId),
    device,
    root: unescaped(root),
    mountPoint: unescaped(mountPoint),
    options: words(options),
    propagation: propagationOf(fields.slice(FIXED_FIELDS, end)),
    fsType: unescaped(fsType),
    source: unescaped(source),
    superOptions: words(superOptions),
  };
}

const words = (list: string): readonly string[] => (list === "" ? [] : list.split(",").map(unescaped));

function propagationOf(tags: readonly string[]): MountPropagation {
  const group = (tag: string): number | undefined => {
    const found = tags.find((each) => each.startsWith(`${tag}:`));
    return found === undefined ? undefined : Number(found.slice(tag.length + 1));
  };
  const [sharedWith, receivesFrom] = [group("shared"), group("master")];
  return {
    ...(sharedWith === undefined ? {} : { sharedWith }),
    ...(receivesFrom === undefined ? {} : { receivesFrom }),
    isUnbindable: tags.includes("unbindable"),
  };
}

/** Blank, tab, line feed, backslash and `#` are three octal digits each. */
const unescaped = (field: string): string =>
  field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/** Whether something is mounted at the path or below it; which, for a message. The path has no links in it. */
export const mountedAtOrBelow = (entries: readonly MountEntry[], path: string): MountEntry | undefined =>
  entries.find(({ mountPoint }) => mountPoint === path || mountPoint.startsWith(path === "/" ? "/" : `${path}/`));

/** The mount that holds a path: the nearest above it, or at it. The path has no links in it. */
export function mountHolding(entries: readonly MountEntry[], path: string): MountEntry | undefined {
  const isIn = (point: string): boolean => point === "/" || path === point || path.startsWith(`${point}/`);
  return entries.reduce<MountEntry | undefined>(
    (best, entry) =>
      isIn(entry.mountPoint) && entry.mountPoint.length >= (best?.mountPoint.length ?? 0) ? entry : best,
    undefined,
  );
}

/** Other places below `dir` where the very same directory is seen as at `source`. None of the paths has links in it. */
export function seenBelow(entries: readonly MountEntry[], source: string, dir: string): readonly string[] {
  const holder = mountHolding(entries, source);
  if (holder === undefined) return [];
  const inside = source.slice(holder.mountPoint === "/" ? 0 : holder.mountPoint.length);
  const root = `${holder.root === "/" ? "" : holder.root}${inside}` || "/";
  return entries
    .filter((entry) => entry.device === holder.device && entry.root === root && entry.mountPoint.startsWith(`${dir}/`))
    .map(({ mountPoint }) => mountPoint);
}

const REMOTE_TYPES: ReadonlySet<string> = new Set([
  "nfs",
  "nfs4",
  "cifs",
  "smb3",
  "ceph",
  "9p",
  "afs",
  "lustre",
  "glusterfs",
  "autofs",
  "fuseblk",
]);

/** Whether somebody else answers for what is there: a server or a process, which may do so late or never. */
export const isRemote = ({ fsType }: Pick<MountEntry, "fsType">): boolean =>
  REMOTE_TYPES.has(fsType) || fsType === "fuse" || fsType.startsWith("fuse.");

/** The mount one sees at that very path: the topmost. */
export const mountAt = (entries: readonly MountEntry[], path: string): MountEntry | undefined =>
  entries.findLast(({ mountPoint }) => mountPoint === path);
