/** Compares kernel releases such as `6.1.0-13-amd64`. */

/** Returns the leading numbers of a release: 6, 1, 0. Empty when it starts with none. */
const versionNumbers = (release: string): readonly number[] =>
  (/^\s*v?(\d+(?:\.\d+)*)/.exec(release)?.[1]?.split(".") ?? []).map(Number);

/** Returns whether a release is that version or later; undefined when it is malformed. */
export function isVersionAtLeast(release: string, wanted: string): boolean | undefined {
  const numbers = versionNumbers(release);
  if (numbers.length === 0) return undefined;
  for (const [index, number] of versionNumbers(wanted).entries()) {
    const difference = (numbers[index] ?? 0) - number;
    if (difference !== 0) return difference > 0;
  }
  return true;
}
