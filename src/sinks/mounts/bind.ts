/** Bind mounts with mount(8), and their rollback when a later step fails. */
import { dirname, join, basename } from "node:path";
import * as fs from "node:fs/promises";
import type { BindRequest } from "../../ports/mounts.ts";
import { readMountsAt } from "./mountTable.ts";
import { runMount } from "./mountTool.ts";
import type { RunTool } from "./mountTools.ts";

/** Options that a bind remount clears unless they are repeated. */
const KEPT_FLAGS: ReadonlySet<string> = new Set([
  "nosuid",
  "nodev",
  "noexec",
  "noatime",
  "nodiratime",
  "relatime",
  "nosymfollow",
]);
/** Deadline of the rollback, which runs even after the call was cancelled. */
const UNDO_MS = 10_000;

export interface Bind extends BindRequest {
  /** Descriptor of the bind source, instead of the path `source`. */
  readonly descriptor?: number;
}

/** Binds; unmounts again if the mount cannot be made read-only. */
export async function bind(request: Bind, run: RunTool): Promise<void> {
  const { source, target, readOnly, recursive, options = [], descriptor } = request;
  const from = descriptor === undefined ? source : "/proc/self/fd/3";
  const words = options.length === 0 ? [] : ["-o", options.join(",")];
  const args = ["--no-canonicalize", recursive === true ? "--rbind" : "--bind", ...words, "--", from, target];
  const what = `bind ${source} at ${target}`;
  const opened = descriptor === undefined ? { mayUseShell: true } : { descriptor };
  await runMount(run, { args, what, ...opened }, [source, target]);
  if (readOnly === true) await orUndo(target, run, () => makeReadOnly(target, run));
}

/** Unmounts the new mount when a later step fails. */
export async function orUndo(target: string, run: RunTool, follow: () => Promise<void>): Promise<void> {
  try {
    await follow();
  } catch (thrown) {
    // The first failure is reported; the mount table shows a mount that stays.
    const signal = AbortSignal.timeout(UNDO_MS);
    await unmount(target, false, (tool) => run(tool, signal)).catch(() => {});
    throw thrown;
  }
}

/** Makes one bind mount read-only and keeps its other options. */
export async function makeReadOnly(target: string, run: RunTool): Promise<void> {
  const found = (await readMountsAt(await ownPlace(target))).at(-1);
  const kept = found?.options.filter((flag) => KEPT_FLAGS.has(flag)) ?? [];
  const words = ["remount", "bind", "ro", ...kept].join(",");
  const args = ["--no-canonicalize", "-o", words, "--", target];
  await run({ program: "mount", args, what: `make ${target} read-only`, mayUseShell: true });
}

/** Returns the path under which the table lists a mount point: follows links in its parents, but not at its end. */
export async function ownPlace(path: string): Promise<string> {
  return join(await fs.realpath(dirname(path)), basename(path));
}

/** Unmounts the topmost mount at a path; succeeds without a mount or a path. */
export async function unmount(target: string, isLazy: boolean, run: RunTool): Promise<void> {
  const place = await ownPlace(target).catch(() => target);
  // umount(8) has no exit status for `not mounted`.
  if (!(await isMounted(place))) return;
  const args = ["--no-canonicalize", ...(isLazy ? ["--lazy"] : []), "--", place];
  try {
    await run({ program: "umount", args, what: `unmount ${target}`, mayUseShell: true });
  } catch (thrown) {
    if (await isMounted(place)) throw thrown;
  }
}

const isMounted = async (place: string): Promise<boolean> => (await readMountsAt(place)).length > 0;
