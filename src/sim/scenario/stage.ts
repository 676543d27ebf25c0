/** Takes each step of a script at its time on a node, and keeps the steps that had nothing to act on. */
import { unreachable } from "../../core/invariant.ts";
import type { SimNode } from "../simNode.ts";
import type { SimObservation } from "../simObservation.ts";
import type { ScenarioPod } from "./scenarioPods.ts";
import { type Hands, takeAction } from "./scenarioActions.ts";
import type { ScenarioStep } from "./script.ts";
import { createStagePods } from "./stagePods.ts";

/** A step that could not be taken. */
export interface LostStep {
  readonly atMs: number;
  readonly text: string;
}

export interface Stage {
  /** Brings a pod to the node, or the changed one. */
  put(pod: ScenarioPod): void;
  /** Takes the steps, each at its time, until `endMs`. */
  play(steps: readonly ScenarioStep[], endMs: number): void;
  /** Deletes the object of a deleted API pod once none of its containers run. */
  look(observation: SimObservation): void;
  readonly lost: readonly LostStep[];
}

/** Makes a stage of a node. */
export function createStage(
  node: SimNode,
  { names, troubles, servers }: Pick<Hands, "names" | "troubles" | "servers">,
): Stage {
  const { clock } = node;
  const lost: LostStep[] = [];

  const lose = (text: string): void => void lost.push({ atMs: clock.monotonicMs(), text });
  const later = (ms: number | undefined, action: () => void): void => {
    if (ms !== undefined) node.at(clock.monotonicMs() + ms, action);
  };
  const { put, remove, forceDelete, look } = createStagePods(node, names, { lose, later });
  const hands: Hands = { node, names, troubles, servers, put, remove, forceDelete, lose, later };
  return {
    put,
    look,
    lost,
    play(steps, endMs) {
      for (const { when, action } of steps) {
        const take = (): void => takeAction(action, hands);
        switch (when.kind) {
          case "at":
            node.at(when.atMs, take);
            break;
          case "every":
            for (let atMs = when.fromMs; atMs <= Math.min(when.toMs ?? endMs, endMs); atMs += when.periodMs) {
              node.at(atMs, take);
            }
            break;
          case "during": {
            const pod = when.pod === undefined ? undefined : names.pod(when.pod);
            // Not within the call itself: the kubelet that makes it may be what ends.
            troubles.watchCall({ ...when, pod, then: () => later(0, take) });
            break;
          }
          default:
            unreachable(when);
        }
      }
    },
  };
}
