/** The hash behind UIDs of static pods and behind "has this file changed". */
import { createHash } from "node:crypto";

/**
 * 32 lower-case hexadecimal digits of the parts in order; where one part ends and the next begins counts.
 * Differs from upstream: half a SHA-256, which every platform has (also those that forbid MD5), for FNV-1a of 128 bits.
 */
export function manifestDigest(parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("hex").slice(0, 32);
}
