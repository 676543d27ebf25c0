/** Resource versions of API objects: decimal numbers of any length. */

/**
 * Returns whether `version` is newer than `seen`; an empty `seen` is older than all. A text that is not a version is
 * never newer.
 */
export function isNewerVersion(version: string, seen: string): boolean {
  if (!/^\d+$/.test(version)) return false;
  if (seen === "") return true;
  return version.length === seen.length ? version > seen : version.length > seen.length;
}
