/** Hash for the UIDs of static pods and for the detection of changed manifests. */
import { createHash } from "node:crypto";

/**
 * Returns 32 lower-case hexadecimal digits for the parts; their order and boundaries matter.
 * Differs from upstream: half a SHA-256, which every platform has (some forbid MD5), instead of 128-bit FNV-1a.
 */
export function manifestDigest(parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("hex").slice(0, 32);
}
