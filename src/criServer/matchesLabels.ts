/** Label selectors of CRI filters. */

/** Returns whether the labels match every entry of the selector. */
export const matchesLabels = (
  labels: Readonly<Record<string, string>>,
  selector: Readonly<Record<string, string>>,
): boolean => Object.entries(selector).every(([key, value]) => labels[key] === value);
