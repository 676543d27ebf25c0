/**
 * Devices of a pod that is being admitted: each plugin that wants to choose is asked, then all of them prepare the devices.
 * The pod has its hardware meanwhile and starts afterwards, or is rejected.
 *
 *     (hardware assigned) --> ask --answered--> (assigned again) --> allocate --prepared--> (pod starts)
 *                              +--failed--+                             +--failed--> (pod is rejected)
 *                                         +--> (pod is rejected)
 */
import type { Blocker } from "../admission/leavingPods.ts";
import type { Pod } from "../api.ts";
import { type MonotonicMs, podUid, type PodUid } from "../ids.ts";
import { answerKey, type DeviceAnswers, type DeviceQuestion } from "../topology/deviceQuestion.ts";
import {
  type AssignedHardware,
  type HardwareRefusal,
  type PodHardware,
  unexpectedRefusal,
  type Remark,
} from "../topology/hardware.ts";

/** Whether a pod has its hardware; `wait`: once these pods have stopped, or this plugin has come back. */
export type HardwareOutcome =
  /** undefined: no container of this node gets hardware for itself. */
  | { readonly kind: "assigned"; readonly hardware: PodHardware | undefined; readonly asks?: DeviceQuestion }
  /** Plugins choose or prepare devices of the pod. */
  | { readonly kind: "preparing" }
  | { readonly kind: "wait"; readonly behind: readonly Blocker[]; readonly remarks?: readonly Remark[] | undefined }
  | { readonly kind: "refused"; readonly refusal: HardwareRefusal };

/** Work of plugins for a pod. A task is compared by identity: each belongs to one run of one record. */
export type PreparationTask =
  | { readonly kind: "ask"; readonly question: DeviceQuestion }
  | { readonly kind: "allocate"; readonly hardware: PodHardware };

/** A plugin that is away, and until when pods wait for it. */
export interface AwaitedPlugin {
  readonly plugin: string;
  readonly until: MonotonicMs;
}

/** The end of a task; `why` is the error as upstream words it. */
export type PreparationOutcome =
  | { readonly kind: "answered"; readonly ids: readonly string[] }
  | { readonly kind: "prepared" }
  /** The plugin has gone meanwhile: the pod waits for it until the devices of the node change, or is decided at once. */
  | { readonly kind: "away"; readonly awaits?: AwaitedPlugin | undefined }
  | { readonly kind: "failed"; readonly why: string };

/** The state of the preparation. */
export interface DevicePreparation {
  readonly answers: DeviceAnswers;
  readonly task: PreparationTask;
  /** undefined: the task is running. */
  readonly outcome: PreparationOutcome | undefined;
}

/** A task to begin. */
export interface BegunPreparation {
  readonly pod: Pod;
  readonly task: PreparationTask;
}

/** A change of the tasks of a pod. */
export interface PreparationChange {
  readonly uid: PodUid;
  /** Replaces a running task; undefined: the pod does not start now, and its task ends. */
  readonly begin: BegunPreparation | undefined;
}

const NO_ANSWERS: DeviceAnswers = new Map();

/** Returns the answers so far. */
export function answersOf(preparation: DevicePreparation | undefined): DeviceAnswers {
  if (preparation === undefined) return NO_ANSWERS;
  const { answers, task, outcome } = preparation;
  if (task.kind !== "ask" || outcome?.kind !== "answered") return answers;
  return new Map(answers).set(answerKey(task.question), outcome.ids);
}

/** Returns the outcome that a preparation leads to; undefined: the hardware is to be decided. */
export function outcomeOfPreparation(
  preparation: DevicePreparation | undefined,
  hardware: PodHardware | undefined,
): HardwareOutcome | undefined {
  if (preparation === undefined) return undefined;
  const { outcome } = preparation;
  switch (outcome?.kind) {
    case undefined:
      return { kind: "preparing" };
    case "answered":
      return undefined;
    case "away":
      return outcome.awaits && { kind: "wait", behind: [awaitedPlugin(outcome.awaits)] };
    case "prepared":
      return { kind: "assigned", hardware };
    case "failed":
      return { kind: "refused", refusal: unexpectedRefusal(outcome.why) };
  }
}

/** A device plugin in place of a pod: it has no UID, so its name is one that no pod has. */
export const awaitedPlugin = ({ plugin, until }: AwaitedPlugin): Blocker => ({
  uid: podUid(`device plugin ${plugin}`),
  name: plugin,
  until,
  isPlugin: true,
});

/** Returns the next task for this hardware; undefined if there are no devices to prepare. */
export function taskFor({ hardware, asks }: AssignedHardware): PreparationTask | undefined {
  if (asks !== undefined) return { kind: "ask", question: asks };
  return [...hardware.values()].some(({ devices }) => devices !== undefined)
    ? { kind: "allocate", hardware }
    : undefined;
}

/** Returns the preparation after the end of a task; undefined if another task runs. */
export const withOutcome = (
  preparation: DevicePreparation | undefined,
  task: PreparationTask,
  outcome: PreparationOutcome,
): DevicePreparation | undefined =>
  preparation?.task === task && preparation.outcome === undefined ? { ...preparation, outcome } : undefined;
