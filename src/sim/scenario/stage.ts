/** Plays a script on a node: runs each step at its time and records steps without a target. */
import { unreachable } from "../../core/invariant.ts";
import type { SimNode } from "../simNode.ts";
import type { SimObservation } from "../simObservation.ts";
import type { ScenarioPod } from "./scenarioPods.ts";
import { type ActionContext, takeAction } from "./scenarioActions.ts";
import type { ScenarioStep } from "./script.ts";
import { createStagePods } from "./stagePods.ts";

/** A step that had no target. */
export interface LostStep {
  readonly atMs: number;
  readonly text: string;
}

export interface Stage {
  /** Adds a pod to the node or updates it. */
  put(pod: ScenarioPod): void;
  /** Runs the steps, each at its time, until `endMs`. */
  play(steps: readonly ScenarioStep[], endMs: number): void;
  /** Deletes the object of a deleted API pod once none of its containers run. */
  look(observation: SimObservation): void;
  readonly lost: readonly LostStep[];
}

/** Creates the stage of a node. */
export function createStage(
  node: SimNode,
  { names, troubles, servers }: Pick<ActionContext, "names" | "troubles" | "servers">,
): Stage {
  const { clock } = node;
  const lost: LostStep[] = [];

  const lose = (text: string): void => void lost.push({ atMs: clock.monotonicMs(), text });
  const later = (ms: number | undefined, action: () => void): void => {
    if (ms !== undefined) node.at(clock.monotonicMs() + ms, action);
  };
  const { put, remove, forceDelete, look } = createStagePods(node, names, { lose, later });
  const context: ActionContext = { node, names, troubles, servers, put, remove, forceDelete, lose, later };
  return {
    put,
    look,
    lost,
    play(steps, endMs) {
      for (const { when, action } of steps) {
        const take = (): void => takeAction(action, context);
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
            // Runs outside the call itself: the action may end the kubelet that makes the call.
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
