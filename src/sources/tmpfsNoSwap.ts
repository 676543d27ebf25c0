/** Finds out whether a tmpfs can be kept out of swap: by the kernel's version, or by mounting one. */
import { execFile } from "node:child_process";
import * as fs from "node:fs/promises";
import * as os from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { hasTmpfsNoSwap, type TmpfsHost } from "../core/volume/tmpfsSwap.ts";

const execute = promisify(execFile);
const TOOL = { timeout: 10_000, maxBuffer: 64 * 1024 };

/**
 * Never rejects. Differs from upstream: without swap nothing is mounted to find out, so an old kernel counts as one
 * without the option.
 */
export async function readTmpfsNoSwap(host: TmpfsHost & { readonly isSwapOn: boolean }): Promise<boolean> {
  return hasTmpfsNoSwap(host) ?? (host.isSwapOn && (await mountsWithoutSwap(os.tmpdir())));
}

/** Mounts a tmpfs with `noswap` below `parent`, and unmounts it; returns whether it was mounted. */
export async function mountsWithoutSwap(parent: string): Promise<boolean> {
  const dir = await fs.mkdtemp(join(parent, "tmpfs-noswap-test-")).catch(() => undefined);
  if (dir === undefined) return false;
  try {
    await execute("mount", ["-t", "tmpfs", "-o", "noswap", "tmpfs", dir], TOOL);
    await execute("umount", ["-l", dir], TOOL).catch(() => undefined);
    return true;
  } catch {
    return false;
  } finally {
    await fs.rmdir(dir).catch(() => undefined);
  }
}
