/** The Mounts port with the tools of the host. Keeps no state: what is mounted is asked of the kernel. */
import { ioError } from "../../core/ioError.ts";
import type { Call, CallOptions } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { MountRequest, Mounts } from "../../ports/mounts.ts";
import { bind, makeReadOnly, unmount } from "./bind.ts";
import { bindInside, makeInside } from "./insideVolume.ts";
import { readMountTable } from "./mountTable.ts";
import { boundedCall, runMount } from "./mountTool.ts";

const MOUNT_MS = 120_000;
const DEFAULT_MS = 30_000;

async function mount(request: MountRequest, what: string, signal: AbortSignal): Promise<void> {
  const { source, target, fsType, options } = request;
  const args = ["-t", fsType, ...(options.length === 0 ? [] : ["-o", options.join(",")]), "--", source, target];
  await runMount({ program: "mount", args, what, signal }, [target]);
}

/** Mounts of the mount namespace of this process. */
export function createMounts({ clock }: { readonly clock: Clock }): Mounts {
  const call = <T>(
    [action, path]: readonly [action: string, path: string],
    deadlineMs: number,
    run: (signal: AbortSignal) => Promise<T>,
  ): Call<T> =>
    boundedCall(`${action} ${path}`, deadlineMs, clock, async (signal) => {
      try {
        return await run(signal);
      } catch (thrown) {
        throw ioError(action, path, thrown);
      }
    });
  const within = (options: CallOptions | undefined, usualMs: number): number => options?.deadlineMs ?? usualMs;
  return {
    list: () => call(["list", "mounts"], DEFAULT_MS, readMountTable),
    mount(request, options) {
      const what = [`mount ${request.fsType} ${request.source} at`, request.target] as const;
      return call(what, within(options, MOUNT_MS), (signal) => mount(request, what.join(" "), signal));
    },
    bind: (request, options) =>
      call([`bind ${request.source} at`, request.target], within(options, DEFAULT_MS), (signal) =>
        bind({ ...request, signal }),
      ),
    makeReadOnly: (target, options) =>
      call(["make read-only", target], within(options, DEFAULT_MS), (signal) => makeReadOnly(target, signal)),
    unmount: (target, options) =>
      call(["unmount", target], within(options, DEFAULT_MS), (signal) =>
        unmount(target, options?.isLazy === true, signal),
      ),
    bindInside: (request, options) =>
      call(["bind a subPath at", request.target], within(options, DEFAULT_MS), (signal) => bindInside(request, signal)),
    makeInside: (place) =>
      call([`make subPath ${place.subPath} in`, place.volumeRoot], DEFAULT_MS, (signal) => makeInside(place, signal)),
  };
}
