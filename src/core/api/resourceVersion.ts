/** Versions of objects of an API server: decimal numbers of any length. */

/** Whether an object of `version` is news to someone who has seen everything up to `seen`; what is no version is no news. */
export function isNewerVersion(version: string, seen: string): boolean {
  if (!/^\d+$/.test(version)) return false;
  if (seen === "") return true;
  return version.length === seen.length ? version > seen : version.length > seen.length;
}
