/** Bind mounts by mount(8), and the way back when half of one failed. */
import { dirname, join, basename } from "node:path";
import * as fs from "node:fs/promises";
import { mountAt } from "../../core/mount/mountInfo.ts";
import type { BindRequest } from "../../ports/mounts.ts";
import { readMountTable } from "./mountTable.ts";
import { runMount } from "./mountTool.ts";
import type { RunTool } from "./mountTools.ts";

/** What a bind remount takes away unless it is named again. */
const KEPT_FLAGS: ReadonlySet<string> = new Set([
  "nosuid",
  "nodev",
  "noexec",
  "noatime",
  "nodiratime",
  "relatime",
  "nosymfollow",
]);
/** Of taking back what was half done, whatever became of the call. */
const UNDO_MS = 10_000;

export interface Bind extends BindRequest {
  /** Descriptor of what is bound, instead of the path `source`. */
  readonly descriptor?: number;
}

/** Binds; what cannot be made read-only is taken away again. */
export async function bind(request: Bind, run: RunTool): Promise<void> {
  const { source, target, readOnly, recursive, options = [], descriptor } = request;
  const from = descriptor === undefined ? source : "/proc/self/fd/3";
  const words = options.length === 0 ? [] : ["-o", options.join(",")];
  const args = ["--no-canonicalize", recursive === true ? "--rbind" : "--bind", ...words, "--", from, target];
  const what = `bind ${source} at ${target}`;
  const opened = descriptor === undefined ? {} : { descriptor };
  await runMount(run, { args, what, ...opened }, [source, target]);
  if (readOnly === true) await orUndo(target, run, () => makeReadOnly(target, run));
}

/** Takes away the mount just made when what follows fails. */
export async function orUndo(target: string, run: RunTool, follow: () => Promise<void>): Promise<void> {
  try {
    await follow();
  } catch (thrown) {
    // The first failure is what counts; a mount that stays is found in the table.
    const signal = AbortSignal.timeout(UNDO_MS);
    await unmount(target, false, (tool) => run(tool, signal)).catch(() => {});
    throw thrown;
  }
}

/** Makes a bind read-only: that mount alone, and as it is otherwise. */
export async function makeReadOnly(target: string, run: RunTool): Promise<void> {
  const found = mountAt(await readMountTable(), await ownPlace(target));
  const kept = found?.options.filter((flag) => KEPT_FLAGS.has(flag)) ?? [];
  const words = ["remount", "bind", "ro", ...kept].join(",");
  const args = ["--no-canonicalize", "-o", words, "--", target];
  await run({ program: "mount", args, what: `make ${target} read-only` });
}

/** Where the table has what is mounted at a path: links on the way are followed, at its end not. */
export async function ownPlace(path: string): Promise<string> {
  return join(await fs.realpath(dirname(path)), basename(path));
}

/** Takes away the topmost mount there; none is fine, and so is a path that is not there. */
export async function unmount(target: string, isLazy: boolean, run: RunTool): Promise<void> {
  const place = await ownPlace(target).catch(() => target);
  // umount(8) has no exit status for `not mounted`.
  if (mountAt(await readMountTable(), place) === undefined) return;
  const args = ["--no-canonicalize", ...(isLazy ? ["--lazy"] : []), "--", place];
  try {
    await run({ program: "umount", args, what: `unmount ${target}` });
  } catch (thrown) {
    if (mountAt(await readMountTable(), place) !== undefined) throw thrown;
  }
}
