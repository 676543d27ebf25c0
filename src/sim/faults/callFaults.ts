/**
 * Faults of the runtime's calls: errors before and after the effect, slow calls, calls without an answer.
 * simNodeWorld.ts passes `callFault` to the runtime as its `intercept`, and simCall.ts carries out the outcome.
 */
import type { CriRpc } from "../../core/criOperations.ts";
import { type KubeletError, kubeletError } from "../../core/errors.ts";
import type { Prng } from "../prng.ts";
import type { SimAbandon } from "../runtime/simCall.ts";
import type { SimCallFault } from "../simNodeOptions.ts";
import type { FaultDice } from "./faultDice.ts";

/** Calls with side effects. */
const EFFECTS: ReadonlySet<CriRpc> = new Set<CriRpc>([
  "RunPodSandbox",
  "StopPodSandbox",
  "RemovePodSandbox",
  "CreateContainer",
  "StartContainer",
  "StopContainer",
  "RemoveContainer",
  "PullImage",
]);

const CRASHES = ["kubeletCrashesInCall"] as const;
const ANSWERS = ["criFails", "criReplyLost", "criSlow", "criHangs"] as const;

const SLOWEST_MS = 30_000;
/** Instants around the effect: before it, between effect and answer, after the answer. */
const LATEST_CRASH_MS = 300;

export interface CallFaults {
  readonly callFault: SimCallFault;
  readonly goesOn: SimAbandon;
}

/** Creates the faults. `crashKubelet` crashes the kubelet after a delay. */
export function createCallFaults(dice: FaultDice, crashKubelet: (afterMs: number, prng: Prng) => void): CallFaults {
  const isHarmless = !dice.mayHappen([...CRASHES, ...ANSWERS]);
  const asked = new Map<string, number>();
  const numbered = (what: string): string => {
    const count = (asked.get(what) ?? 0) + 1;
    asked.set(what, count);
    return `${what} ${count}`;
  };
  const errorOf = (rpc: CriRpc, prng: Prng): KubeletError =>
    prng.pick([
      kubeletError("Unavailable", `${rpc}: connection reset by peer`),
      kubeletError("Unknown", `${rpc}: something went wrong`),
      kubeletError("DeadlineExceeded", `${rpc}: context deadline exceeded`),
      kubeletError("ResourceExhausted", `${rpc}: too many open files`),
    ]);
  return {
    callFault(rpc, { podUid, subject }) {
      if (isHarmless || dice.isHealed || rpc === "Version") return { kind: "proceed" };
      const what = numbered(`${rpc} ${subject === "" ? podUid : subject}`);
      if (EFFECTS.has(rpc)) {
        const crash = dice.roll(CRASHES, what);
        if (crash !== undefined) crashKubelet(crash.prng.int(0, LATEST_CRASH_MS), crash.prng);
      }
      const fault = dice.roll(ANSWERS, what);
      switch (fault?.kind) {
        case "criFails":
          return { kind: "fail", error: errorOf(rpc, fault.prng) };
        case "criReplyLost":
          return { kind: "loseReply", error: errorOf(rpc, fault.prng) };
        case "criSlow":
          return { kind: "delay", ms: fault.prng.int(1, SLOWEST_MS) };
        case "criHangs":
          return { kind: "hang" };
        default:
          return { kind: "proceed" };
      }
    },
    goesOn: (rpc) => EFFECTS.has(rpc) && dice.roll(["criGoesOn"], numbered(`left ${rpc}`)) !== undefined,
  };
}
