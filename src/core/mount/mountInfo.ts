/** The kernel's mount table from /proc/self/mountinfo; see proc_pid_mountinfo(5). */

/** How a mount propagates mounts below it. */
export interface MountPropagation {
  /** Peer group it shares mounts with (`shared:N`). */
  readonly sharedWith?: number;
  /** Peer group it receives mounts from (`master:N`). */
  readonly receivesFrom?: number;
  /** The mount cannot be bind-mounted. */
  readonly isUnbindable: boolean;
}

/** A mount of a mount namespace. */
export interface MountEntry {
  /** Unique among current mounts; a later mount may reuse it. */
  readonly id: number;
  /** ID of the parent mount; for the root, its own or one outside this namespace. */
  readonly parentId: number;
  /** `major:minor`: equal for all mounts of one file system. */
  readonly device: string;
  /** The directory or file of the file system that is mounted here; `/` unless it is a bind mount. */
  readonly root: string;
  /** Path, relative to the root directory of this process. */
  readonly mountPoint: string;
  /** Options of this mount: `ro`, `nosuid` ... */
  readonly options: readonly string[];
  readonly propagation: MountPropagation;
  readonly fsType: string;
  readonly source: string;
  /** Options of the file system: `ro`, `size=1024k` ... */
  readonly superOptions: readonly string[];
}

/** Number of fields before the optional ones. */
const FIXED_FIELDS = 6;

/** Position of the mount point among the fields. */
const MOUNT_POINT = 4;

/**
 * Parses the entries in order; skips malformed lines. With `isWanted` only the entries of these mount points: callers
 * ask often for a few paths, and a node has a thousand mounts.
 */
export function parseMountInfo(text: string, isWanted?: (mountPoint: string) => boolean): readonly MountEntry[] {
  const entries: MountEntry[] = [];
  for (const line of text.split("\n")) {
    if (isWanted !== undefined && !isWanted(mountPointOf(line))) continue;
    const entry = parseLine(line);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

/** Takes nothing but the one field: most lines are those of other pods. */
function mountPointOf(line: string): string {
  let start = 0;
  for (let field = 0; field < MOUNT_POINT; field += 1) {
    const blank = line.indexOf(" ", start);
    if (blank < 0) return "";
    start = blank + 1;
  }
  const end = line.indexOf(" ", start);
  return unescaped(line.slice(start, end < 0 ? undefined : end));
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
    superOptions: superWords(superOptions),
  };
}

const words = (list: string): readonly string[] => (list === "" ? [] : list.split(",").map(unescaped));

/** An SELinux context with commas, which is in quotes, up to one of its commas. */
const OPEN_CONTEXT = /^(?:fs|def|root)?context="[^"]*$/;

function superWords(list: string): readonly string[] {
  if (!list.includes('context="')) return words(list);
  const options: string[] = [];
  for (const part of list.split(",")) {
    const last = options.at(-1);
    if (last === undefined || !OPEN_CONTEXT.test(last)) options.push(part);
    else options[options.length - 1] = `${last},${part}`;
  }
  return options.map(unescaped);
}

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

/** Blank, tab, line feed, backslash and `#` are encoded as three octal digits. */
const unescaped = (field: string): string =>
  !field.includes("\\")
    ? field
    : field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/** Returns the condition of being at the path or below it. The path contains no links. */
export const isAtOrBelow =
  (path: string) =>
  (mountPoint: string): boolean =>
    mountPoint === path || mountPoint.startsWith(path === "/" ? "/" : `${path}/`);

/** Returns a mount at the path or below it. The path contains no links. */
export function mountedAtOrBelow(entries: readonly MountEntry[], path: string): MountEntry | undefined {
  const isWanted = isAtOrBelow(path);
  return entries.find(({ mountPoint }) => isWanted(mountPoint));
}

/** Returns the mount that holds a path: at it, or the nearest above. The path contains no links. */
export function mountHolding(entries: readonly MountEntry[], path: string): MountEntry | undefined {
  const isIn = (point: string): boolean => point === "/" || path === point || path.startsWith(`${point}/`);
  return entries.reduce<MountEntry | undefined>(
    (best, entry) =>
      isIn(entry.mountPoint) && entry.mountPoint.length >= (best?.mountPoint.length ?? 0) ? entry : best,
    undefined,
  );
}

/** Returns the other paths below `dir` that show the same directory as `source`. The paths contain no links. */
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
  "smbfs",
  "ceph",
  "9p",
  "virtiofs",
  "afs",
  "lustre",
  "glusterfs",
  "beegfs",
  "gpfs",
  "wekafs",
  "orangefs",
  "pvfs2",
  "gfs2",
  "ocfs2",
  "autofs",
  "fuseblk",
]);

/** Returns whether the file system is served by a server or a process, which may respond late or never. */
export const isRemote = ({ fsType }: Pick<MountEntry, "fsType">): boolean =>
  REMOTE_TYPES.has(fsType) || fsType === "fuse" || fsType.startsWith("fuse.");

/** Returns the topmost mount at exactly this path. */
export const mountAt = (entries: readonly MountEntry[], path: string): MountEntry | undefined =>
  entries.findLast(({ mountPoint }) => mountPoint === path);

/**
 * Returns whether files at a path have SELinux labels of their own, which the kernel tells of their mount: not on a file system
 * without labels, nor with one label for all files. The path contains no links. Upstream: GetSELinux of pkg/volume/util/hostutil.
 */
export function hasFileLabels(entries: readonly MountEntry[], path: string): boolean {
  const { options = [], superOptions = [] } = mountHolding(entries, path) ?? {};
  return [...options, ...superOptions].includes("seclabel");
}
