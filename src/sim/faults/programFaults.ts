/** Faults of programs in containers, and of image registries. */
import { kubeletError } from "../../core/errors.ts";
import type { SimRegistry } from "../runtime/simImageCalls.ts";
import type { SimPrograms } from "../runtime/simProgram.ts";
import type { FaultDice } from "./faultDice.ts";

const LONGEST_UNKILLABLE_MS = 600_000;
const LONGEST_PULL_MS = 300_000;
const LATEST_HOG_MS = 600_000;
/** More than any limit and any machine. */
const MORE_THAN_THERE_IS = 2 ** 50;

/** Makes some programs exit long after KILL, and some exceed their memory. */
export function withProgramFaults(programs: SimPrograms, dice: FaultDice): SimPrograms {
  return (input) => {
    const program = programs(input);
    const { namespace, name } = input.sandbox.metadata ?? { namespace: "", name: "" };
    const { name: container, attempt } = input.container.metadata ?? { name: "", attempt: 0 };
    const instance = `${namespace}/${name}/${container}#${attempt}`;
    const unkillable = dice.roll(["unkillable"], instance);
    const hog = dice.roll(["memoryHog"], instance);
    return {
      ...program,
      ...(unkillable && {
        onTerm: "ignored",
        onKill: { afterMs: unkillable.prng.int(1, LONGEST_UNKILLABLE_MS), code: 137 },
      }),
      ...(hog && { grows: { afterMs: hog.prng.int(1, LATEST_HOG_MS), memoryBytes: MORE_THAN_THERE_IS } }),
    };
  };
}

/** Makes a registry reject some pulls and delay others. */
export function withPullFaults(registry: SimRegistry, dice: FaultDice): SimRegistry {
  const pulls = new Map<string, number>();
  return (reference) => {
    const count = (pulls.get(reference) ?? 0) + 1;
    pulls.set(reference, count);
    const pull = registry(reference);
    const fault = dice.roll(["pullFails", "pullSlow"], `${reference} ${count}`);
    switch (fault?.kind) {
      case "pullFails":
        return { ms: pull.ms, error: kubeletError("Unknown", `failed to pull image "${reference}": connection reset`) };
      case "pullSlow":
        return { ...pull, ms: pull.ms + fault.prng.int(1, LONGEST_PULL_MS) };
      default:
        return pull;
    }
  };
}
