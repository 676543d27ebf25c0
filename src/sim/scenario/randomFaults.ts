/** Random faults of a scenario: which happen, and when, follows from its seed and their rates alone. */
import { createAccidents } from "../faults/accidents.ts";
import { createCallFaults } from "../faults/callFaults.ts";
import { withEventFaults } from "../faults/eventFaults.ts";
import { createFaultDice } from "../faults/faultDice.ts";
import { type FaultKind, type FaultRates, readFaultRates } from "../faults/faultKinds.ts";
import { createMountFaults, type MountFaults } from "../faults/mountFaults.ts";
import { withProgramFaults, withPullFaults } from "../faults/programFaults.ts";
import type { SimNode } from "../simNode.ts";
import type { SimNodeOptions } from "../simNodeOptions.ts";
import { ScenarioError } from "./scenarioTime.ts";

/** Faults of what a scenario does not have: an API server, a page of manifests, owners who change their minds. */
const NOT_HERE = [
  "manifestHalfWritten",
  "manifestVanishes",
  "podReplaced",
  "roomTaken",
  "apiOutage",
  "apiWatchGap",
  "apiGone",
  "apiConflict",
  "pageDown",
  "pageCut",
  "pageStale",
] as const satisfies readonly FaultKind[];

/** Rates by fault, each in its unit; what is not named does not happen. */
export type ScenarioFaultRates = Readonly<Partial<Record<Exclude<FaultKind, (typeof NOT_HERE)[number]>, number>>>;

export interface RandomFaults {
  readonly parts: Pick<Required<SimNodeOptions>, "callFault" | "goesOn" | "adaptRuntime">;
  /** Of the mount table and of volumes. */
  readonly mounts: MountFaults;
  programs: (inner: Required<SimNodeOptions>["programs"]) => Required<SimNodeOptions>["programs"];
  registry: (inner: Required<SimNodeOptions>["registry"]) => Required<SimNodeOptions>["registry"];
  /** Lets accidents happen until that instant, at which all that is broken or down comes back. */
  happenTo(node: SimNode, untilMs: number): void;
}

/** Throws ScenarioError for rates that are none. */
function ratesOf(given: ScenarioFaultRates): FaultRates {
  const absent = NOT_HERE.find((kind) => kind in given);
  if (absent !== undefined) throw new ScenarioError(`faults: ${absent} cannot happen in a scenario`);
  const rates = readFaultRates(JSON.stringify(given));
  if (!rates.ok) throw new ScenarioError(rates.error.message);
  return rates.value;
}

/** Makes them; without rates nothing ever happens. */
export function createRandomFaults(seed: string | number, given: ScenarioFaultRates = {}): RandomFaults {
  const dice = createFaultDice({ seed, rates: ratesOf(given) });
  /** Made after the node it watches. */
  const made: { accidents?: ReturnType<typeof createAccidents> } = {};
  const calls = createCallFaults(dice, (afterMs, prng) => made.accidents?.crashKubelet(afterMs, prng));
  return {
    mounts: createMountFaults(dice),
    parts: { ...calls, adaptRuntime: (runtime, clock) => withEventFaults(runtime, dice, clock) },
    programs: (inner) => withProgramFaults(inner, dice),
    registry: (inner) => withPullFaults(inner, dice),
    happenTo(node, untilMs) {
      if (Object.keys(given).length === 0) return;
      const accidents = createAccidents(node, {}, dice, untilMs);
      made.accidents = accidents;
      node.at(untilMs, () => {
        node.note("all faults end");
        dice.heal();
        accidents.heal();
      });
    },
  };
}
