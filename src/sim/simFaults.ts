/**
 * Faults of the runtime's answers, drawn from a seed: each rpc may fail before its effect, fail after it, be slow, or
 * never answer, and go on after its caller left. Owns the count of what it did; `heal` ends it for good.
 */
import type { CriRpc } from "../core/criOperations.ts";
import { type KubeletError, kubeletError } from "../core/errors.ts";
import type { Prng } from "./prng.ts";
import type { SimAbandon, SimAction, SimIntercept } from "./simCall.ts";

/** Probabilities per request, each in [0, 1]. */
export interface SimFaultRates {
  /** An error, and nothing happened. */
  readonly fail: number;
  /** An error, but it happened. */
  readonly loseReply: number;
  /** Up to `slowestMs` later than usual. */
  readonly delay: number;
  readonly slowestMs: number;
  /** No answer at all, until the deadline. */
  readonly hang: number;
  /** Of requests whose caller leaves: takes effect all the same. */
  readonly goOn: number;
}

export interface SimFaults {
  readonly intercept: SimIntercept;
  readonly goesOn: SimAbandon;
  /** No more faults; requests already hanging go on hanging. */
  heal(): void;
  /** Faults so far, by kind. */
  readonly injected: Readonly<Record<SimAction["kind"], number>>;
}

/** Rates of a run: some runs have many of one kind and none of another. */
export function drawFaultRates(prng: Prng): SimFaultRates {
  const rate = (highest: number): number => (prng.chance(0.3) ? 0 : prng.next() ** 2 * highest);
  return {
    fail: rate(0.4),
    loseReply: rate(0.3),
    delay: rate(0.3),
    slowestMs: prng.int(50, 30_000),
    hang: rate(0.03),
    goOn: prng.next(),
  };
}

/** Makes the faults of a run. `isHit` limits them to some rpcs; default: all but Version. */
export function createSimFaults(
  prng: Prng,
  rates: SimFaultRates,
  isHit: (rpc: CriRpc) => boolean = (rpc) => rpc !== "Version",
): SimFaults {
  const injected = { proceed: 0, delay: 0, fail: 0, loseReply: 0, hang: 0 };
  let healed = false;
  const errorOf = (rpc: CriRpc): KubeletError =>
    prng.chance(0.5)
      ? kubeletError("Unavailable", `${rpc}: connection reset by peer`)
      : kubeletError("Unknown", `${rpc}: something went wrong`);
  const choose = (rpc: CriRpc): SimAction => {
    if (healed || !isHit(rpc)) return { kind: "proceed" };
    const draw = prng.next();
    const { fail, loseReply, delay, hang, slowestMs } = rates;
    if (draw < fail) return { kind: "fail", error: errorOf(rpc) };
    if (draw < fail + loseReply) return { kind: "loseReply", error: errorOf(rpc) };
    if (draw < fail + loseReply + delay) return { kind: "delay", ms: prng.int(1, slowestMs) };
    return draw < fail + loseReply + delay + hang ? { kind: "hang" } : { kind: "proceed" };
  };
  return {
    injected,
    heal: () => {
      healed = true;
    },
    intercept(rpc) {
      const action = choose(rpc);
      injected[action.kind] += 1;
      return action;
    },
    goesOn: () => !healed && prng.chance(rates.goOn),
  };
}
