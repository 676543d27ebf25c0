/**
 * Hardware of pods in the registry: whether a pod gets it now, once a terminating pod has given it back, or once a device
 * plugin has come back.
 */
import type { Blocker } from "../admission/leavingPods.ts";
import type { Pod } from "../api.ts";
import type { PodUid } from "../ids.ts";
import type { DeviceAnswers } from "../topology/deviceQuestion.ts";
import {
  type AssignHardware,
  type HardwareRefusal,
  type PodHardware,
  unexpectedRefusal,
} from "../topology/hardware.ts";
import { memoryNodesText } from "../numaMemory/memoryBlock.ts";
import { isCriticalPod } from "./criticalPod.ts";
import { isTerminalPhase } from "./phase.ts";
import { withGrant } from "./podRecord.ts";
import type { PodRecord, RegistryContext } from "./podRegistryTypes.ts";
import {
  answersOf,
  awaitedPlugin,
  type HardwareOutcome,
  outcomeOfPreparation,
  type PreparationChange,
  type PreparationOutcome,
  type PreparationTask,
  taskFor,
  withOutcome,
} from "./registryPreparation.ts";
import type { RestoredPods } from "./registryResources.ts";

/** Hardware of resized pods. */
export interface HardwareResizes {
  /** Returns why the pod cannot have the hardware of this size; undefined if it can. */
  refuse(uid: PodUid, pod: Pod): HardwareRefusal | undefined;
  /** Returns the record at the granted size, with its hardware. */
  grant(record: PodRecord, pod: Pod): PodRecord;
}

/** The hardware of the pods of one registry step. A part of RegistryDraft. */
export class HardwareDraft {
  readonly #records: Map<PodUid, PodRecord>;
  readonly #restored: RestoredPods;
  readonly #context: Pick<RegistryContext, "assignHardware">;
  readonly #changes: PreparationChange[];

  constructor(
    records: Map<PodUid, PodRecord>,
    restored: RestoredPods,
    context: Pick<RegistryContext, "assignHardware">,
    changes: PreparationChange[],
  ) {
    this.#records = records;
    this.#restored = restored;
    this.#context = context;
    this.#changes = changes;
  }

  /** Gives the pod its hardware, if it is free and once the plugins have prepared its devices. */
  assign(uid: PodUid, pod: Pod): HardwareOutcome {
    const { preparation, hardware } = this.#records.get(uid) ?? {};
    const known = outcomeOfPreparation(preparation, hardware);
    if (known !== undefined) return known;
    const answers = answersOf(preparation);
    let outcome = this.#decide(uid, pod, answers);
    // A critical pod takes precedence over pods that have not started, as for other resources. They are decided again.
    for (const later of isCriticalPod(pod) ? this.#preparing(uid) : []) {
      if (outcome.kind !== "refused") break;
      this.release(later);
      outcome = this.#decide(uid, pod, answers);
    }
    if (outcome.kind !== "assigned") return outcome;
    const task = outcome.hardware && taskFor({ ...outcome, hardware: outcome.hardware });
    const next = task && { answers, task, outcome: undefined };
    this.#change(uid, { hardware: outcome.hardware, preparation: next });
    if (task === undefined) return outcome;
    this.#changes.push({ uid, begin: { pod, task } });
    return { kind: "preparing" };
  }

  /** Returns why the managers of CPUs and memory refuse a pod for which the node has too little of something. */
  refusalOf(uid: PodUid, pod: Pod): HardwareRefusal | undefined {
    const outcome = this.#decide(uid, pod);
    if (outcome.kind !== "refused") return undefined;
    const { by } = outcome.refusal;
    return by === "cpus" || by === "memory" ? outcome.refusal : undefined;
  }

  /** Gives a running pod its hardware, as far as it is free. */
  keep(uid: PodUid, pod: Pod): void {
    const outcome = this.#decide(uid, pod);
    if (outcome.kind === "assigned") this.#change(uid, { hardware: outcome.hardware, preparation: undefined });
  }

  /** Returns the hardware of running pods at other sizes, as resizes are granted one after the other. */
  resizes(): HardwareResizes {
    const granted = new Map<PodUid, PodHardware>();
    return {
      refuse: (uid, pod) => {
        const assign = this.#context.assignHardware;
        const own = this.#records.get(uid)?.hardware;
        if (assign === undefined || own === undefined) return undefined;
        const others = [...this.#records].flatMap(([other, { hardware }]) =>
          other === uid ? [] : (granted.get(other) ?? hardware ?? []),
        );
        const outcome = assign(pod, [...others, ...this.#restored.hardwareExceptOf(uid, this.#records)], {
          hardware: own,
          isRunning: true,
        });
        if ("refusal" in outcome) return outcome.refusal;
        if (outcome.missing !== undefined) return outcome.missing;
        if (movesMemory(own, outcome.hardware)) return unexpectedRefusal("too little memory on its NUMA nodes");
        granted.set(uid, outcome.hardware);
        return undefined;
      },
      grant: (record, pod) => ({
        ...withGrant(record, pod),
        hardware: granted.get(record.identity.uid) ?? record.hardware,
      }),
    };
  }

  /** Plugins have ended a task. */
  prepared(uid: PodUid, task: PreparationTask, outcome: PreparationOutcome): void {
    const preparation = withOutcome(this.#records.get(uid)?.preparation, task, outcome);
    if (preparation !== undefined) this.#change(uid, { preparation });
  }

  /** The devices of the node have changed: pods that wait for a plugin are decided again. */
  pluginsChanged(): void {
    for (const [uid, { preparation }] of this.#records) {
      if (preparation?.outcome?.kind === "away") this.#change(uid, { preparation: undefined });
    }
  }

  /** A pod that was being prepared does not start now, so others may have its hardware. */
  release(uid: PodUid): void {
    const { preparation, hardware } = this.#records.get(uid) ?? {};
    if (preparation === undefined) return;
    // A pod that waits for a plugin is not decided again before the devices of the node change.
    const isAway = preparation.outcome?.kind === "away";
    this.#change(uid, { preparation: isAway ? preparation : undefined, hardware: undefined });
    if (!isAway || hardware !== undefined) this.#changes.push({ uid, begin: undefined });
  }

  /** Returns the other pods that are being prepared and are not critical, latest first. */
  #preparing(uid: PodUid): readonly PodUid[] {
    const isLess = ({ identity, pod, preparation }: PodRecord): boolean =>
      identity.uid !== uid && preparation !== undefined && pod !== undefined && !isCriticalPod(pod);
    return [...this.#records.values()].flatMap((record) => (isLess(record) ? record.identity.uid : [])).reverse();
  }

  #change(uid: PodUid, changed: Pick<PodRecord, "preparation"> & Partial<Pick<PodRecord, "hardware">>): void {
    const record = this.#records.get(uid);
    if (record !== undefined) this.#records.set(uid, { ...record, ...changed });
  }

  #decide(uid: PodUid, pod: Pod, answers?: DeviceAnswers): HardwareOutcome {
    const isOver = isTerminalPhase(pod.status?.phase) && !this.#restored.isRunning(uid);
    const assign = this.#context.assignHardware;
    if (assign === undefined || isOver) return { kind: "assigned", hardware: undefined };
    const others = [...this.#records.values()].filter(({ identity }) => identity.uid !== uid);
    const before = this.#restored.hardwareOf(uid);
    const kept = before && { hardware: before, isRunning: this.#restored.isRunning(uid) };
    const decide = (beside: readonly PodRecord[]): ReturnType<AssignHardware> =>
      assign(
        pod,
        [...beside.flatMap(({ hardware }) => hardware ?? []), ...this.#restored.hardwareExceptOf(uid, this.#records)],
        kept,
        answers,
      );
    const assigned = decide(others);
    if ("hardware" in assigned) return { kind: "assigned", ...assigned };
    const leaving = others.flatMap(awaitedFor);
    const { awaits, remarks } = assigned.refusal;
    if (awaits !== undefined) return { kind: "wait", behind: [awaitedPlugin(awaits)], remarks };
    const fitsLater = leaving.length > 0 && "hardware" in decide(others.filter((it) => awaitedFor(it).length === 0));
    return fitsLater ? { kind: "wait", behind: leaving, remarks } : { kind: "refused", refusal: assigned.refusal };
  }
}

/** Whether memory would be on other NUMA nodes, which a running container cannot change. */
const movesMemory = (before: PodHardware, after: PodHardware): boolean =>
  [...before.keys()].some((name) => memoryNodesText(before, name) !== memoryNodesText(after, name));

/** Returns a terminating pod that gives back hardware as another one waits for it; else nothing. */
function awaitedFor({ identity, hardware, leaving }: PodRecord): readonly Blocker[] {
  if (hardware === undefined || leaving === undefined || leaving.overdueFor !== undefined) return [];
  return [{ uid: identity.uid, name: `${identity.namespace}/${identity.name}`, until: leaving.due.everyone }];
}
