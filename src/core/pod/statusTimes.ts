/**
 * Times of a static pod's status on disk: its start and the last transition of each condition. The runtime does not know
 * them, and a static pod has no object in an API server that keeps them. Pure. Bounds: MAX_TIMES_BYTES, MAX_CONDITIONS.
 * Differs from upstream, where they start anew with the kubelet.
 */
import type { PodStatus } from "../api.ts";
import { isJsonObject, parseJson } from "../json.ts";
import type { EpochMs } from "../ids.ts";
import { parseInstant } from "../time/civilTime.ts";
import { OWNED_CONDITIONS } from "./conditions.ts";

/** The time of the last transition of a condition. */
export interface ConditionTime {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: string;
}

export interface StatusTimes {
  readonly startTime: string | undefined;
  readonly conditions: readonly ConditionTime[];
}

const VERSION = 1;
/** The kubelet has fewer conditions of its own. */
const MAX_CONDITIONS = 32;
/** Larger than the times of any pod. A longer file has none. */
export const MAX_TIMES_BYTES = 16 * 1024;
/** The file rarely changes its length, so that it can be overwritten in place. */
const LENGTH_STEP = 512;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;

/** Returns the times of a status. */
export const statusTimes = ({ startTime, conditions = [] }: PodStatus): StatusTimes => ({
  startTime,
  conditions: conditions
    .filter(({ type }) => OWNED_CONDITIONS.has(type))
    .slice(0, MAX_CONDITIONS)
    .flatMap(({ type, status, lastTransitionTime }) =>
      typeof lastTransitionTime === "string" ? [{ type, status, lastTransitionTime }] : [],
    ),
});

/** Returns the content of the file, ending in a newline. */
export function encodeStatusTimes(times: StatusTimes): string {
  const text = JSON.stringify({ version: VERSION, ...times });
  return `${text.padEnd(Math.ceil((text.length + 1) / LENGTH_STEP) * LENGTH_STEP - 1)}\n`;
}

/** Returns the times in a file without those after `now`, as a wrong clock leaves them; undefined when it is damaged. */
export function decodeStatusTimes(text: string, now: EpochMs): StatusTimes | undefined {
  const document = parseJson(text);
  if (!isJsonObject(document) || document["version"] !== VERSION || !Array.isArray(document["conditions"]))
    return undefined;
  const found = document["conditions"] as readonly unknown[];
  if (found.length > MAX_CONDITIONS) return undefined;
  const conditions: ConditionTime[] = [];
  for (const entry of found) {
    if (!isJsonObject(entry)) return undefined;
    const { type, status, lastTransitionTime } = entry;
    if (typeof type !== "string" || typeof status !== "string" || !isInstant(lastTransitionTime)) return undefined;
    if (!isLater(lastTransitionTime, now)) conditions.push({ type, status, lastTransitionTime });
  }
  const { startTime } = document;
  if (startTime !== undefined && !isInstant(startTime)) return undefined;
  return { startTime: startTime === undefined || isLater(startTime, now) ? undefined : startTime, conditions };
}

const isInstant = (value: unknown): value is string => typeof value === "string" && INSTANT.test(value);

const isLater = (instant: string, now: EpochMs): boolean => (parseInstant(instant) ?? Infinity) > now;
