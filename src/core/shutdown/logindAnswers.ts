/** Answers and settings of systemd's login manager. */

const US_PER_MS = 1_000;
/** The largest number of 64 bits, which stands for no limit; JSON numbers round it. */
const UNLIMITED_US = 2 ** 64 - 2_048;

/** Returns InhibitDelayMaxUSec in milliseconds, Infinity without a limit; undefined: the answer is no such number. */
export function inhibitDelayMs(data: unknown): number | undefined {
  if (typeof data !== "number" || !(data >= 0)) return undefined;
  return data >= UNLIMITED_US ? Infinity : data / US_PER_MS;
}

/**
 * Returns the value of a signal PrepareForShutdown, given a line of `busctl --json=short monitor`; undefined for any other
 * line.
 */
export function prepareForShutdown(line: string): boolean | undefined {
  let given: unknown;
  try {
    given = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { member, payload } = (given ?? {}) as { readonly member?: unknown; readonly payload?: unknown };
  if (member !== "PrepareForShutdown" || typeof payload !== "object" || payload === null) return undefined;
  const { data } = payload as { readonly data?: unknown };
  const [value]: readonly unknown[] = Array.isArray(data) ? data : [data];
  return typeof value === "boolean" ? value : undefined;
}

/** Returns the content of a settings file that allows this delay of shutdowns. */
export const inhibitDelaySetting = (seconds: number): string =>
  `# Written by the kubelet, for the shutdown of the node.\n[Login]\nInhibitDelayMaxSec=${seconds}\n`;
