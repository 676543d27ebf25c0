/** Comparing kernel releases such as `6.1.0-13-amd64`. */

/** The numbers a release begins with: 6, 1, 0. Empty when it begins with none. */
const versionNumbers = (release: string): readonly number[] =>
  (/^\s*v?(\d+(?:\.\d+)*)/.exec(release)?.[1]?.split(".") ?? []).map(Number);

/** Whether a release is that version or a later one; undefined when it is none. */
export function isVersionAtLeast(release: string, wanted: string): boolean | undefined {
  const numbers = versionNumbers(release);
  if (numbers.length === 0) return undefined;
  for (const [index, number] of versionNumbers(wanted).entries()) {
    const difference = (numbers[index] ?? 0) - number;
    if (difference !== 0) return difference > 0;
  }
  return true;
}
