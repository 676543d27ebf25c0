/** The state file of node shutdowns, in upstream's format: when the last one began and ended. */
import { type EpochMs, epochMs } from "../ids.ts";
import { parseInstant, rfc3339Nano } from "../time/civilTime.ts";

/** When the last shutdown began, and when it had ended its pods; undefined: not known, or not yet. */
export interface ShutdownState {
  readonly startedAt?: EpochMs | undefined;
  readonly endedAt?: EpochMs | undefined;
}

/** The zero value of upstream's times. */
const NEVER = "0001-01-01T00:00:00Z";
/** Largest state file that is read, in bytes. */
export const MAX_STATE_BYTES = 4_096;

/** Returns the content of the file. */
export const shutdownStateText = ({ startedAt, endedAt }: ShutdownState): string =>
  JSON.stringify({ startTime: textOf(startedAt), endTime: textOf(endedAt) });

const textOf = (at: EpochMs | undefined): string => (at === undefined ? NEVER : rfc3339Nano(at));

/** Reads the file; undefined: its content is not of this format. */
export function parseShutdownState(text: string): ShutdownState | undefined {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof given !== "object" || given === null) return undefined;
  const { startTime, endTime } = given as { readonly startTime?: unknown; readonly endTime?: unknown };
  return { startedAt: timeOf(startTime), endedAt: timeOf(endTime) };
}

function timeOf(value: unknown): EpochMs | undefined {
  const at = typeof value === "string" ? parseInstant(value) : undefined;
  return at === undefined || at <= 0 ? undefined : epochMs(at);
}
