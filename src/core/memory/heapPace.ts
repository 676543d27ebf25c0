/**
 * Decides how the heap of a node's process is collected: seldom while the process is busy, so that pods that start or end do
 * not wait for collections, and down to its least once it is calm. There is a look each second. Pure; commands/heapKeeper.ts
 * applies it.
 */

/** The heap, and the work of the process since the last look. */
export interface HeapReading {
  /** Memory that V8 holds for the heap, used or not. */
  readonly committedBytes: number;
  /** Fraction of the time in which the event loop was busy, from 0 to 1. */
  readonly busyPart: number;
}

/** The state between two looks. */
export interface HeapPace {
  readonly isBusy: boolean;
  /** Consecutive looks at which the event loop was not busy. */
  readonly idleLooks: number;
  /** Consecutive looks at a calm process whose heap is worth a trimming. */
  readonly waitedLooks: number;
  /** The least committed memory since the last trimming; undefined: not known yet. */
  readonly leastBytes: number | undefined;
}

/** The state before the first look. */
export const FIRST_PACE: HeapPace = { isBusy: false, idleLooks: 0, waitedLooks: 0, leastBytes: undefined };

/** About ten pods that end within a second; probes of sixty pods each second take less. */
const BUSY_FROM = 0.15;
/** A burst has gaps while the runtime works. */
const BUSY_LOOKS = 10;
/** V8 trims the heap itself soon after most bursts, in steps that pause less: the process gives it that time. */
const PATIENCE_LOOKS = 25;
const MIB = 1_048_576;
/** Growth that is worth a pause of the event loop, about 200 ms for a heap of 40 MiB on a slow core. */
const WORTH_BYTES = 16 * MIB;

/** Returns the state after a look, and whether to trim the heap now. */
export function nextPace(
  pace: HeapPace,
  { committedBytes, busyPart }: HeapReading,
): { readonly pace: HeapPace; readonly trims: boolean } {
  const leastBytes = Math.min(pace.leastBytes ?? committedBytes, committedBytes);
  const idleLooks = busyPart >= BUSY_FROM ? 0 : pace.idleLooks + 1;
  const isBusy = idleLooks === 0 || (pace.isBusy && idleLooks < BUSY_LOOKS);
  const isWorth = idleLooks > 0 && committedBytes >= leastBytes + WORTH_BYTES;
  const waitedLooks = isWorth ? pace.waitedLooks + 1 : 0;
  return waitedLooks < PATIENCE_LOOKS
    ? { pace: { isBusy, idleLooks, waitedLooks, leastBytes }, trims: false }
    : { pace: { isBusy, idleLooks, waitedLooks: 0, leastBytes: undefined }, trims: true };
}
