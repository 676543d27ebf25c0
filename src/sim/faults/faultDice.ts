/**
 * Decides every fault of a run independently: whether a fault happens depends on the seed and its name alone, never
 * on earlier decisions. Shrinking can therefore leave out one fault and keep the others. The other files of this
 * directory roll the dice and inject the faults; simRun.ts connects them to a node. Owns the list of faults that
 * happened. Bound: one name per fault.
 */
import { createPrng, type Prng } from "../prng.ts";
import { FAULT_KINDS, type FaultKind, type FaultRates } from "./faultKinds.ts";

/** A fault that happens, with the randomness for its details. */
export interface Fault {
  readonly kind: FaultKind;
  readonly prng: Prng;
}

export interface FaultDice {
  readonly rates: FaultRates;
  /** Returns the fault that happens to the event named `what`, if any: at most one of the kinds, tried in order. */
  roll(kinds: readonly FaultKind[], what: string): Fault | undefined;
  /** Returns whether any of these kinds can happen in this run. */
  mayHappen(kinds: readonly FaultKind[]): boolean;
  /** Faults so far as `kind what`, in order. */
  readonly happened: readonly string[];
  /** Faults so far by kind; kinds that did not happen are absent. */
  counts(): Readonly<Partial<Record<FaultKind, number>>>;
  /** Disables faults from now on. */
  heal(): void;
  readonly isHealed: boolean;
}

export interface FaultDiceOptions {
  readonly seed: string | number;
  readonly rates: FaultRates;
  /** Limits the faults to these, regardless of the rates; default: those the rates give. */
  readonly only?: ReadonlySet<string> | undefined;
}

/** Converts a rate to the probability of one roll: rates per hour are rolled once a minute. */
const ROLLS_PER_HOUR = 60;

/** Creates the dice of a run. */
export function createFaultDice({ seed, rates, only }: FaultDiceOptions): FaultDice {
  const happened: string[] = [];
  const counted = new Map<FaultKind, number>();
  let isHealed = false;
  const chanceOf = (kind: FaultKind): number =>
    FAULT_KINDS[kind].per === "hour" ? Math.min(1, rates[kind] / ROLLS_PER_HOUR) : rates[kind];
  const chosen = (kinds: readonly FaultKind[], what: string, prng: Prng): FaultKind | undefined => {
    if (only !== undefined) return kinds.find((kind) => only.has(`${kind} ${what}`));
    let left = prng.next();
    return kinds.find((kind) => {
      left -= chanceOf(kind);
      return left < 0;
    });
  };
  const mayHappen = (kinds: readonly FaultKind[]): boolean =>
    only !== undefined || kinds.some((kind) => rates[kind] > 0);
  return {
    rates,
    mayHappen,
    happened,
    roll(kinds, what) {
      if (isHealed || !mayHappen(kinds)) return undefined;
      const prng = createPrng(`${seed}/${kinds[0]}/${what}`);
      const kind = chosen(kinds, what, prng);
      if (kind === undefined) return undefined;
      happened.push(`${kind} ${what}`);
      counted.set(kind, (counted.get(kind) ?? 0) + 1);
      return { kind, prng: prng.fork(kind) };
    },
    counts: () => Object.fromEntries(counted),
    heal() {
      isHealed = true;
    },
    get isHealed() {
      return isHealed;
    },
  };
}
