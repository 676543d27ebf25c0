/**
 * The Mounts port in memory, on a simulated file tree. The mounts belong to the tree, what file systems they are to this;
 * both outlive kubelets but no reboot.
 */
import { Observable, switchMap } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import type { MountEntry } from "../../core/mount/mountInfo.ts";
import { namesBelow, subPathFault } from "../../core/mount/subPath.ts";
import type { Call, CallOptions } from "../../ports/call.ts";
import { deadline } from "../../operators/deadline.ts";
import type { Clock } from "../../ports/clock.ts";
import type { BindInsideRequest, InsideVolume, MountRequest, Mounts } from "../../ports/mounts.ts";
import { atOnce, later, outcome, type SimAction } from "../runtime/simCall.ts";
import { isOfOther, pathInside, type SimMount } from "./simMountTable.ts";
import { normalized, parentOf } from "./simPaths.ts";
import type { SimTree } from "./simTree.ts";

/** What can be asked of it; `lazy unmount` detaches. */
export type SimMountRequest = keyof Mounts | "lazy unmount";

/** The port, and the host's view. */
export interface SimMounts extends Mounts {
  /** What is mounted beside the file systems of the machine, oldest first. */
  all(): readonly MountEntry[];
  /** All of it goes, as when the machine boots. */
  clear(): void;
}

export interface SimMountsOptions {
  readonly clock: Clock;
  readonly tree: SimTree;
  /** Of every operation, default 0: the scheduler's next action. */
  readonly latencyMs?: number;
  /** Asked when an operation is about to happen; default: all goes well. */
  fate?: ((operation: SimMountRequest, target: string) => SimAction) | undefined;
  /** Whether what was asked for happens though the kubelet has gone meanwhile, as tools of the host run on. Default: no. */
  goesOn?: ((operation: SimMountRequest, target: string) => boolean) | undefined;
}

const DIRECTORY_MODE = 0o750;
const FILE_MODE = 0o640;
/** Of a tmpfs, as the kernel makes its root. */
const ROOT_MODE = 0o1777;
const MOUNT_MS = 120_000;
const FORMAT_MS = 3_600_000;
const DEFAULT_MS = 30_000;
const ROOT_FILE_SYSTEM = { fsType: "ext4", source: "/dev/vda1" };
const PROCEED: SimAction = { kind: "proceed" };

/** Makes a table with nothing in it. */
export function createSimMounts({ clock, tree, latencyMs = 0, fate, goesOn }: SimMountsOptions): SimMounts {
  const { mounts } = tree;
  /** File systems mounted since the boot, by number. */
  const kinds = new Map<number, Pick<MountEntry, "fsType" | "source" | "superOptions">>();
  const call = <T>(operation: SimMountRequest, target: string, deadlineMs: number, effect: () => T): Call<T> => {
    const action = (): SimAction => fate?.(operation, target) ?? PROCEED;
    const late = () => kubeletError("DeadlineExceeded", `${operation} ${target}: not done within ${deadlineMs} ms`);
    const isLeft = (): boolean => goesOn?.(operation, target) ?? false;
    return performed(clock, latencyMs, action, isLeft, effect).pipe(deadline(deadlineMs, clock, late));
  };
  const bound = (options: CallOptions | undefined, usualMs: number): number => options?.deadlineMs ?? usualMs;
  const bindTree = (source: string, target: string, readOnly: boolean, recursive: boolean): void => {
    const from = needed(tree, "bind", source).path;
    const below = recursive ? mounts.all().filter(({ path }) => path.startsWith(`${from}/`)) : [];
    const to = mounts.bind(from, needed(tree, "bind", target).path, readOnly).path;
    for (const { path } of below) mounts.bind(path, `${to}${path.slice(from.length)}`, false);
  };
  const take = (mount: SimMount, isLazy: boolean): void => {
    for (const above of mounts.on(mount)) {
      if (!isLazy) throw kubeletError("Io", `cannot unmount ${mount.path}: target is busy`);
      take(above, isLazy);
    }
    tree.unmount(mount);
  };
  const bindInside = ({ target, readOnly = false, ...place }: BindInsideRequest): void => {
    const { place: source, path } = inside(tree, place, "NotFound");
    const top = (): SimMount | undefined => mounts.at(target);
    if (top()?.root === source && top()?.isReadOnly === readOnly) return;
    for (let mount = top(); mount !== undefined; mount = top()) take(mount, false);
    tree.makeDirectory(parentOf(normalized(target)), DIRECTORY_MODE);
    const [wanted, found] = [tree.nodes.get(source)?.kind, tree.at(target)?.kind];
    if (found !== undefined && found !== wanted) tree.remove(target);
    if (found !== wanted && wanted === "directory") tree.makeDirectory(target, DIRECTORY_MODE);
    else if (found !== wanted) tree.writeFile(target, "", FILE_MODE);
    bindTree(path, target, readOnly, false);
  };
  const mount = ({ source, target, fsType, options }: MountRequest): void => {
    const made = tree.mount(needed(tree, "mount", target).path, ROOT_MODE);
    kinds.set(made.fileSystem, { source, fsType, superOptions: ["rw", ...options] });
  };
  const all = (): readonly MountEntry[] =>
    mounts.all().map((mount) => {
      const kind = kinds.get(mount.fileSystem) ?? { ...ROOT_FILE_SYSTEM, superOptions: ["rw"] };
      return entryOf(mount, kind);
    });
  return {
    list: () => call("list", "/", DEFAULT_MS, all),
    realPath: (path) => call("realPath", path, DEFAULT_MS, () => tree.mounts.walk(path).path),
    mount: (request, more) => call("mount", request.target, bound(more, MOUNT_MS), () => mount(request)),
    formatAndMount: (request, more) =>
      call("formatAndMount", request.target, bound(more, FORMAT_MS), () => mount(request)),
    bind: ({ source, target, readOnly = false, recursive = false }, more) =>
      call("bind", target, bound(more, DEFAULT_MS), () => bindTree(source, target, readOnly, recursive)),
    makeReadOnly: (target, more) =>
      call("makeReadOnly", target, bound(more, DEFAULT_MS), () => {
        const found = mounts.at(target);
        if (found === undefined) throw kubeletError("Io", `cannot make read-only ${target}: not mounted`);
        mounts.makeReadOnly(found);
      }),
    unmount(target, { isLazy = false, ...more } = {}) {
      return call(isLazy ? "lazy unmount" : "unmount", target, bound(more, DEFAULT_MS), () => {
        const found = mounts.at(target);
        if (found !== undefined) take(found, isLazy);
      });
    },
    bindInside: (request, more) =>
      call("bindInside", request.target, bound(more, DEFAULT_MS), () => bindInside(request)),
    makeInside: ({ mode, ...place }) =>
      call("makeInside", place.volumeRoot, DEFAULT_MS, () => {
        const root = tree.nodes.get(mounts.walk(place.volumeRoot).place);
        const { path } = inside(tree, place, "missing is fine");
        if (!tree.nodes.has(mounts.walk(path).place)) {
          tree.makeDirectory(path, mode ?? (root?.kind === "directory" ? root.mode : DIRECTORY_MODE));
        }
      }),
    all,
    clear() {
      for (const mount of mounts.all().toReversed()) tree.unmount(mount);
      kinds.clear();
    },
  };
}

/** The way of a request: it happens at one instant, unless its fate is another; without a caller only if it `goesOn`. */
function performed<T>(
  clock: Clock,
  latencyMs: number,
  fate: () => SimAction,
  goesOn: () => boolean,
  effect: () => T,
): Call<T> {
  const happening$ = later(clock, latencyMs, fate).pipe(
    switchMap((action) =>
      outcome(action, () => (action.kind === "delay" ? later(clock, action.ms, effect) : atOnce(effect))),
    ),
  );
  return new Observable((caller) => {
    let isAnswered = false;
    const way = happening$.subscribe({
      next(value) {
        isAnswered = true;
        caller.next(value);
      },
      error(thrown: unknown) {
        isAnswered = true;
        caller.error(thrown);
      },
      complete: () => caller.complete(),
    });
    return () => {
      if (isAnswered || !goesOn()) way.unsubscribe();
    };
  });
}

const entryOf = (
  { id, parentId, root, path, fileSystem, isReadOnly }: SimMount,
  kind: Pick<MountEntry, "fsType" | "source" | "superOptions">,
): MountEntry => ({
  id,
  parentId,
  device: isOfOther(root) ? `0:${fileSystem}` : "254:1",
  root: pathInside(root),
  mountPoint: path,
  options: [isReadOnly ? "ro" : "rw"],
  propagation: { isUnbindable: false },
  ...kind,
});

function needed({ mounts, nodes }: SimTree, action: string, path: string) {
  const where = mounts.walk(path);
  if (!nodes.has(where.place)) throw kubeletError("NotFound", `cannot ${action} ${path}: ENOENT`);
  return where;
}

/** Where a subPath leads; throws when that is outside of its volume. */
function inside(tree: SimTree, { volumeRoot, subPath }: InsideVolume, ifMissing: "NotFound" | "missing is fine") {
  const refuse = (why: string) =>
    kubeletError("InvalidArgument", `cannot use subPath ${JSON.stringify(subPath)} of ${volumeRoot}: ${why}`);
  const fault = subPathFault(subPath);
  if (fault !== undefined) throw refuse(fault);
  const root = needed(tree, "use", volumeRoot);
  const where = tree.mounts.walk(`${root.path}/${subPath}`);
  if (namesBelow(root.path, where.path) === undefined) throw refuse("it leads outside of the volume");
  if (ifMissing === "NotFound" && !tree.nodes.has(where.place)) {
    throw kubeletError("NotFound", `cannot bind ${where.path}: ENOENT`);
  }
  return where;
}
