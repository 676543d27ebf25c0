/**
 * Decides which mount of a volume is still missing, given the mount that an earlier kubelet left at its path. Upstream:
 * the mount point checks in SetUpAt of the volume plugins, which accept any mount at the path as complete.
 */
import { kubeletError } from "../errors.ts";
import type { MountEntry } from "../mount/mountInfo.ts";
import { err, ok, type Result } from "../result.ts";
import type { FileSystem, VolumeLayout } from "./volumeLayout.ts";

/** The next step of mounting a volume. */
export type MountStep =
  | { readonly kind: "nothing" }
  | { readonly kind: "mount"; readonly fileSystem: FileSystem }
  | { readonly kind: "bind"; readonly bound: NonNullable<VolumeLayout["bound"]> }
  /** The earlier kubelet stopped between the bind mount and making it read-only. */
  | { readonly kind: "makeReadOnly" };

const NOTHING: Result<MountStep> = ok({ kind: "nothing" });

/**
 * Returns the next step; `found` is the topmost mount at the path. A foreign mount is kept and gives a Conflict: a
 * second mount would hide files that pods wrote into the first, and unmounting would take it from running containers.
 */
export function mountStep(
  { path, fileSystem, bound }: Pick<VolumeLayout, "path" | "fileSystem" | "bound">,
  found: MountEntry | undefined,
): Result<MountStep> {
  if (fileSystem !== undefined) {
    if (found === undefined) return ok({ kind: "mount", fileSystem });
    const fault = differenceOf(fileSystem, found);
    if (fault === undefined) return NOTHING;
    return err(kubeletError("Conflict", `cannot mount ${fileSystem.fsType} at ${path}: ${fault}`));
  }
  if (bound === undefined) return NOTHING;
  if (found === undefined) return ok({ kind: "bind", bound });
  return bound.readOnly && !found.options.includes("ro") ? ok({ kind: "makeReadOnly" }) : NOTHING;
}

/** Sizes are not compared: a tmpfs may already hold more than its new size. */
function differenceOf({ fsType, options }: FileSystem, found: MountEntry): string | undefined {
  // The NFS version depends on the server.
  const isType = found.fsType === fsType || (fsType === "nfs" && found.fsType === "nfs4");
  if (!isType) return `${found.fsType} of ${found.source} is mounted there`;
  const [wanted, has] = [pageSizeOf(options), pageSizeOf(found.superOptions)];
  return wanted === undefined || has === undefined || wanted === has ? undefined : `its page size is ${has} bytes`;
}

const UNITS: Readonly<Record<string, bigint>> = { K: 1n << 10n, M: 1n << 20n, G: 1n << 30n, T: 1n << 40n };

/** Returns bytes from `pagesize=2Mi`, as requested, or `pagesize=2M`, as the kernel reports it. */
function pageSizeOf(options: readonly string[]): bigint | undefined {
  const word = options.find((option) => option.startsWith("pagesize="));
  const [, digits, unit = ""] = /^pagesize=(\d+)([KMGT]?)i?$/i.exec(word ?? "") ?? [];
  return digits === undefined ? undefined : BigInt(digits) * (UNITS[unit.toUpperCase()] ?? 1n);
}
