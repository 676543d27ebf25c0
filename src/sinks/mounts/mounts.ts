/** The Mounts port with the tools of the host. Keeps no state: what is mounted is asked of the kernel. */
import * as fs from "node:fs/promises";
import { throwError } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import { ioError } from "../../core/ioError.ts";
import { type MountEntry, mountAt, parseMountInfo } from "../../core/mount/mountInfo.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { BindRequest, MountRequest, Mounts } from "../../ports/mounts.ts";
import { boundedCall, runTool } from "./mountTool.ts";

const MOUNT_INFO = "/proc/self/mountinfo";
const MOUNT_DEADLINE_MS = 120_000;
const DEADLINE_MS = 30_000;
/** Flags of a mount that a bind remount would take away if they were not named again. */
const KEPT_FLAGS = new Set(["nosuid", "nodev", "noexec", "noatime", "nodiratime", "relatime", "nosymfollow"]);

/** The mount table of this process. */
async function readMounts(): Promise<readonly MountEntry[]> {
  try {
    return parseMountInfo(await fs.readFile(MOUNT_INFO, "utf8"));
  } catch (thrown) {
    throw ioError("read", MOUNT_INFO, thrown);
  }
}

async function mount(request: MountRequest, signal: AbortSignal): Promise<void> {
  const { source, target, fsType, options, secretOptions = [] } = request;
  const words = [...options, ...secretOptions];
  const args = ["-t", fsType, ...(words.length === 0 ? [] : ["-o", words.join(",")]), "--", source, target];
  await runTool({ program: "mount", args, what: `mount ${fsType} ${source} at ${target}`, signal });
}

/** What is bound stays writable for an instant only: when it cannot be made read-only it is taken away. */
async function bind({ source, target, readOnly, recursive }: BindRequest, signal: AbortSignal): Promise<void> {
  const what = `bind ${source} at ${target}`;
  const how = recursive === true ? "--rbind" : "--bind";
  await runTool({ program: "mount", args: ["--no-canonicalize", how, "--", source, target], what, signal });
  if (readOnly !== true) return;
  try {
    await makeReadOnly(target, signal);
  } catch (thrown) {
    await unmount(target, false, AbortSignal.timeout(DEADLINE_MS));
    throw thrown;
  }
}

async function makeReadOnly(target: string, signal: AbortSignal): Promise<void> {
  const kept = mountAt(await readMounts(), await fs.realpath(target))?.options.filter((flag) => KEPT_FLAGS.has(flag));
  const words = ["remount", "bind", "ro", ...(kept ?? [])].join(",");
  const args = ["--no-canonicalize", "-o", words, "--", target];
  await runTool({ program: "mount", args, what: `make ${target} read-only`, signal });
}

async function unmount(target: string, isLazy: boolean, signal: AbortSignal): Promise<void> {
  const args = ["--no-canonicalize", ...(isLazy ? ["--lazy"] : []), "--", target];
  try {
    await runTool({ program: "umount", args, what: `unmount ${target}`, signal });
  } catch (thrown) {
    if (mountAt(await readMounts(), target) !== undefined) throw thrown;
  }
}

const unimplemented = (what: string): Call<never> =>
  throwError(() => kubeletError("Unimplemented", `cannot ${what} yet`));

/** Mounts of the mount namespace of this process. */
export const createMounts = ({ clock }: { readonly clock: Clock }): Mounts => ({
  list: () => boundedCall("list mounts", DEADLINE_MS, clock, readMounts),
  changes$: undefined,
  mount: (request, options) =>
    boundedCall(
      `mount ${request.fsType} ${request.source} at ${request.target}`,
      options?.deadlineMs ?? MOUNT_DEADLINE_MS,
      clock,
      (signal) => mount(request, signal),
    ),
  bind: (request, options) =>
    boundedCall(
      `bind ${request.source} at ${request.target}`,
      options?.deadlineMs ?? MOUNT_DEADLINE_MS,
      clock,
      (signal) => bind(request, signal),
    ),
  remount: (target, words, options) =>
    boundedCall(`remount ${target}`, options?.deadlineMs ?? MOUNT_DEADLINE_MS, clock, (signal) =>
      runTool({
        program: "mount",
        args: ["-o", ["remount", ...words].join(","), "--", target],
        what: `remount ${target}`,
        signal,
      }),
    ),
  unmount: (target, options) =>
    boundedCall(`unmount ${target}`, options?.deadlineMs ?? DEADLINE_MS, clock, (signal) =>
      unmount(target, options?.isLazy === true, signal),
    ),
  bindInside: ({ volumeRoot, subPath }) => unimplemented(`bind ${subPath} of ${volumeRoot}`),
  makeInside: ({ volumeRoot, subPath }) => unimplemented(`make ${subPath} in ${volumeRoot}`),
});
