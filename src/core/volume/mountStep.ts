/**
 * What is still to be mounted for a volume, given what an earlier life left at its place. Counterparts: the checks for a
 * mount point in SetUpAt of the volume plugins, which take any mount there for the whole of it.
 */
import { kubeletError } from "../errors.ts";
import type { MountEntry } from "../mount/mountInfo.ts";
import { err, ok, type Result } from "../result.ts";
import type { FileSystem, VolumeLayout } from "./volumeLayout.ts";

export type MountStep =
  | { readonly kind: "nothing" }
  | { readonly kind: "mount"; readonly fileSystem: FileSystem }
  | { readonly kind: "bind"; readonly bound: NonNullable<VolumeLayout["bound"]> }
  /** A life ended between the bind and making it read-only. */
  | { readonly kind: "makeReadOnly" };

const NOTHING: Result<MountStep> = ok({ kind: "nothing" });

/**
 * Decides; `found` is the topmost mount at the place. A second mount would hide what pods wrote into the first, and to
 * unmount it would take it from containers: whatever is no part of the volume is Conflict, and stays.
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

/** Sizes are no difference: what is in a tmpfs may be more than it should hold by now. */
function differenceOf({ fsType, options }: FileSystem, found: MountEntry): string | undefined {
  // Whatever version of NFS the server speaks.
  const isType = found.fsType === fsType || (fsType === "nfs" && found.fsType === "nfs4");
  if (!isType) return `${found.fsType} of ${found.source} is mounted there`;
  const [wanted, has] = [pageSizeOf(options), pageSizeOf(found.superOptions)];
  return wanted === undefined || has === undefined || wanted === has ? undefined : `it has pages of ${has} bytes`;
}

const UNITS: Readonly<Record<string, bigint>> = { K: 1n << 10n, M: 1n << 20n, G: 1n << 30n, T: 1n << 40n };

/** `pagesize=2Mi` as it is asked for, `pagesize=2M` as the kernel tells it: bytes. */
function pageSizeOf(options: readonly string[]): bigint | undefined {
  const word = options.find((option) => option.startsWith("pagesize="));
  const [, digits, unit = ""] = /^pagesize=(\d+)([KMGT]?)i?$/i.exec(word ?? "") ?? [];
  return digits === undefined ? undefined : BigInt(digits) * (UNITS[unit.toUpperCase()] ?? 1n);
}
