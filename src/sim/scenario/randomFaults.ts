/** Random faults of a scenario. Its seed and the rates alone determine which faults occur, and when. */
import { createAccidents } from "../faults/accidents.ts";
import { createCallFaults } from "../faults/callFaults.ts";
import { withEventFaults } from "../faults/eventFaults.ts";
import { createFaultDice } from "../faults/faultDice.ts";
import { type FaultKind, type FaultRates, readFaultRates } from "../faults/faultKinds.ts";
import { createMountFaults, type MountFaults } from "../faults/mountFaults.ts";
import { slowReclaims } from "../faults/resourceFaults.ts";
import { withProgramFaults, withPullFaults } from "../faults/programFaults.ts";
import type { SimNode } from "../simNode.ts";
import type { SimNodeOptions } from "../simNodeOptions.ts";
import { ScenarioError } from "./scenarioTime.ts";

/** Faults of parts that a scenario lacks: an API server, a manifest URL, owners that edit pods. */
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

/** Rates by fault, each in its unit; a fault without a rate does not occur. */
export type ScenarioFaultRates = Readonly<Partial<Record<Exclude<FaultKind, (typeof NOT_HERE)[number]>, number>>>;

export interface RandomFaults {
  readonly parts: Pick<Required<SimNodeOptions>, "callFault" | "goesOn" | "adaptRuntime">;
  /** Faults of the mount table, of volumes and of the memory. */
  readonly machine: MountFaults & Pick<SimNodeOptions, "reclaimMs">;
  programs: (inner: Required<SimNodeOptions>["programs"]) => Required<SimNodeOptions>["programs"];
  registry: (inner: Required<SimNodeOptions>["registry"]) => Required<SimNodeOptions>["registry"];
  /** Schedules accidents until that instant, at which every broken part recovers. */
  happenTo(node: SimNode, untilMs: number): void;
}

/** Validates rates; throws ScenarioError for an invalid rate. */
function ratesOf(given: ScenarioFaultRates): FaultRates {
  const absent = NOT_HERE.find((kind) => kind in given);
  if (absent !== undefined) throw new ScenarioError(`faults: ${absent} cannot happen in a scenario`);
  const rates = readFaultRates(JSON.stringify(given));
  if (!rates.ok) throw new ScenarioError(rates.error.message);
  return rates.value;
}

/** Creates the random faults; without rates no fault occurs. */
export function createRandomFaults(seed: string | number, given: ScenarioFaultRates = {}): RandomFaults {
  const dice = createFaultDice({ seed, rates: ratesOf(given) });
  /** Set after the creation of the node that the accidents act on. */
  const made: { accidents?: ReturnType<typeof createAccidents> } = {};
  const calls = createCallFaults(dice, (afterMs, prng) => made.accidents?.crashKubelet(afterMs, prng));
  return {
    machine: { ...createMountFaults(dice), reclaimMs: slowReclaims(dice) },
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
