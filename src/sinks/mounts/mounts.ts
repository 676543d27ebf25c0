/**
 * The Mounts port with the tools of the host. Builds the arguments of mount(8) for a file system; bind.ts does so for
 * bind mounts and formatAndMount.ts for block devices. Owns the set of running tools and the resolved root directory;
 * the kernel owns the mounts. Internal paths are resolved, because the root directory may be reached through a link.
 */
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { switchMap } from "rxjs";
import { ioError } from "../../core/ioError.ts";
import { isAtOrBelow } from "../../core/mount/mountInfo.ts";
import { type RootAlias, rootAlias } from "../../core/mount/rootAlias.ts";
import { createSemaphore } from "../../operators/semaphore.ts";
import type { Call, CallOptions } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { InsideVolume, MountRequest, Mounts } from "../../ports/mounts.ts";
import type { Logger } from "../../ports/telemetry.ts";
import { followLinks, remoteMountOf } from "../remote/followLinks.ts";
import { bind, makeReadOnly, unmount } from "./bind.ts";
import { bindInside, makeInside } from "./insideVolume.ts";
import { createInsideRemote } from "./remoteInside.ts";
import { formatAndMount } from "./formatAndMount.ts";
import { growFileSystem } from "./growFileSystem.ts";
import { attachLoop, detachLoops } from "./loopDevices.ts";
import { readMountTable } from "./mountTable.ts";
import { boundedCall, runMount } from "./mountTool.ts";
import { createMountTools, type RunTool } from "./mountTools.ts";
import { createToolLock } from "./toolLock.ts";

const MOUNT_MS = 120_000;
/** Checking or formatting a large disk takes long. */
const FORMAT_MS = 3_600_000;
const DEFAULT_MS = 30_000;
/** Processes that work in volumes on remote file systems. */
const REMOTE_AT_ONCE = 4;

async function mount({ source, target, fsType, options }: MountRequest, what: string, run: RunTool): Promise<void> {
  const args = ["-t", fsType, ...(options.length === 0 ? [] : ["-o", options.join(",")]), "--", source, target];
  // Other file systems have helpers, which may leave a daemon behind.
  await runMount(run, { args, what, mayUseShell: fsType === "tmpfs" }, [target]);
}

export interface MountsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** The path as configured, with or without links. Must not change while the kubelet runs. */
  readonly rootDir: string;
  /** Lock file held open by the tools of this kubelet and by no other kubelet at the same time. */
  readonly lockFile: string;
  /** Deadline of a server for one subPath. Default 10 s. */
  readonly remoteDeadlineMs?: number;
}

/** Creates the port on the mount namespace of this process. */
export function createMounts(options: MountsOptions): Mounts {
  const { log } = options;
  const call = mountCalls(options);
  const inside = insideCalls(call);
  const insideRemote = createInsideRemote(options.remoteDeadlineMs);
  return {
    list: (place) =>
      call(["list", "mounts"], DEFAULT_MS, async (_, { toReal, toConfigured }) => {
        const isWanted = place === undefined ? undefined : isAtOrBelow(toReal(place));
        return toConfigured(await readMountTable(isWanted));
      }),
    realPath: (path) =>
      call(["follow", path], DEFAULT_MS, async (_, { toReal, toConfiguredPath }) =>
        toConfiguredPath((await followLinks(toReal(path), await readMountTable())).path),
      ),
    mount(request, options) {
      const { fsType, source, target } = request;
      const action = `mount ${fsType} ${source} at`;
      return call([action, target, target], within(options, MOUNT_MS), (run, { toReal }) =>
        mount({ ...request, target: toReal(target) }, `${action} ${target}`, run),
      );
    },
    ...deviceCalls(call, log),
    bind({ source, target, ...more }, options) {
      const what = [`bind ${source} at`, target, target] as const;
      return call(what, within(options, DEFAULT_MS), (run, { toReal }) =>
        bind({ source: toReal(source), target: toReal(target), ...more }, run),
      );
    },
    makeReadOnly: (target, options) =>
      call(["make read-only", target, target], within(options, DEFAULT_MS), (run, { toReal }) =>
        makeReadOnly(toReal(target), run),
      ),
    unmount(target, options) {
      const isLazy = options?.isLazy === true;
      // A lazy unmount is meant for hanging mounts, so it must not look at them.
      const place = isLazy ? undefined : target;
      return call(["unmount", target, place], within(options, DEFAULT_MS), (run, { toReal }) =>
        unmount(toReal(target), isLazy, run),
      );
    },
    bindInside(request, options) {
      const { volumeRoot, target } = request;
      const what = ["bind a subPath at", target, target] as const;
      return inside(request, (isRemote) =>
        call(what, within(options, DEFAULT_MS), (run, { toReal }) => {
          const real = { ...request, volumeRoot: toReal(volumeRoot), target: toReal(target) };
          return isRemote ? insideRemote({ kind: "bind", request: real }, run) : bindInside(real, run);
        }),
      );
    },
    makeInside: (place) =>
      inside(place, (isRemote) =>
        call([`make subPath ${place.subPath} in`, place.volumeRoot], DEFAULT_MS, (run, { toReal }) => {
          const real = { ...place, volumeRoot: toReal(place.volumeRoot) };
          return isRemote ? insideRemote({ kind: "make", request: real }, run) : makeInside(real);
        }),
      ),
  };
}

type CallMount = ReturnType<typeof mountCalls>;

/** Operations on block devices. */
function deviceCalls(
  call: CallMount,
  log: Logger,
): Pick<Mounts, "formatAndMount" | "growFileSystem" | "attachLoop" | "detachLoops"> {
  return {
    formatAndMount(request, options) {
      const { source, target } = request;
      // While an earlier attempt still works on the disk, its content is incomplete.
      return call([`mount ${source} at`, target, source], within(options, FORMAT_MS), (run, { toReal }) =>
        formatAndMount({ ...request, target: toReal(target) }, run, log),
      );
    },
    growFileSystem(request, options) {
      const { device, mountPoint } = request;
      return call(["grow the file system at", mountPoint, device], within(options, FORMAT_MS), (run, { toReal }) =>
        growFileSystem({ device, mountPoint: toReal(mountPoint) }, run),
      );
    },
    attachLoop: (path, options) =>
      call(["attach a loop device to", path, path], within(options, DEFAULT_MS), (run, { toReal }) =>
        attachLoop(toReal(path), run),
      ),
    detachLoops: (path, options) =>
      call(["detach the loop device of", path, path], within(options, DEFAULT_MS), (run, { toReal }) =>
        detachLoops(toReal(path), run),
      ),
  };
}

/** Runs operations with their deadline, after earlier tools on the same path have ended. Owns the root and the tools. */
function mountCalls({ clock, log, rootDir, lockFile }: MountsOptions) {
  const tools = createMountTools(createToolLock({ file: lockFile, log }));
  let root: RootAlias | undefined;
  const findRoot = async (): Promise<RootAlias> => {
    root ??= rootAlias(rootDir, await realpath(rootDir));
    return root;
  };
  /** `place` is the path at which no earlier tool may be running. */
  return <T>(
    [action, path, place]: readonly [action: string, path: string, place?: string | undefined],
    deadlineMs: number,
    effect: (run: RunTool, root: RootAlias) => Promise<T>,
  ): Call<T> =>
    boundedCall(`${action} ${path}`, deadlineMs, clock, async (signal) => {
      try {
        const found = await findRoot();
        await tools.enter(place && found.toReal(place));
        return await effect(tools.runFor(signal), found);
      } catch (thrown) {
        throw ioError(action, path, thrown);
      }
    });
}

/** Runs work in a volume; on a remote file system in a process, REMOTE_AT_ONCE of them at a time. */
function insideCalls(call: CallMount) {
  const remoteTurns = createSemaphore(REMOTE_AT_ONCE);
  return ({ volumeRoot, subPath }: InsideVolume, work: (isRemote: boolean) => Call<void>): Call<void> => {
    const isRemote$ = call(["find the mount of", volumeRoot], DEFAULT_MS, async (_, { toReal }) => {
      const mount = await remoteMountOf(join(toReal(volumeRoot), subPath), await readMountTable());
      return mount !== undefined;
    });
    return isRemote$.pipe(switchMap((isRemote) => (isRemote ? remoteTurns.run(work(true)) : work(false))));
  };
}

const within = (options: CallOptions | undefined, usualMs: number): number => options?.deadlineMs ?? usualMs;
