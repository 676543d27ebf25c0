/** Resources that pods take of the node: pods of the registry, and pods that run since an earlier kubelet process. */
import { type Leaving, leavingDue, type OverdueFor } from "../admission/leavingPods.ts";
import type { TakenResources } from "../admission/resourceDecision.ts";
import type { AllocationRecord } from "../allocation/allocationFile.ts";
import { takenResources } from "../allocation/heldResources.ts";
import { unclaimedPod } from "../allocation/podAllocation.ts";
import type { PodUid } from "../ids.ts";
import type { ListedPod } from "../runtime/runtimeListing.ts";
import type { PodHardware } from "../topology/hardware.ts";
import { resourcesOfRecord } from "./podRecord.ts";
import type { PodRecord, Registry, RegistryContext } from "./podRegistryTypes.ts";

type Records = ReadonlyMap<PodUid, PodRecord>;

/** Returns the resources by UID, without those of pods that wait to start. */
export const resourcesOfRecords = (records: Records): ReadonlyMap<PodUid, TakenResources> =>
  new Map(
    [...records].flatMap(([uid, record]) => {
      const resources = resourcesOfRecord(record);
      return resources === undefined ? [] : [[uid, resources] as const];
    }),
  );

/**
 * Allocations of an earlier kubelet process, until a source claims the pod or the pod is gone. A part of RegistryDraft.
 */
export class RestoredPods {
  readonly #context: RegistryContext;
  readonly #isSettled: boolean;
  #allocations: ReadonlyMap<PodUid, AllocationRecord>;
  /** Hardware of pods without an allocation. */
  #inherited: ReadonlyMap<PodUid, PodHardware>;
  /** How long other pods wait to learn whether a running pod still belongs to a source. */
  #unclaimed: Leaving | undefined;

  constructor({ restored, inherited, unclaimed, isSettled }: Registry, context: RegistryContext) {
    this.#context = context;
    this.#allocations = restored;
    this.#inherited = inherited;
    this.#isSettled = isSettled;
    this.#unclaimed = unclaimed;
  }

  take(allocations: ReadonlyMap<PodUid, AllocationRecord>, inherited: ReadonlyMap<PodUid, PodHardware>): void {
    this.#allocations = allocations;
    this.#inherited = without(inherited, (uid) => allocations.has(uid));
    this.#unclaimed = { due: leavingDue(0, this.#context.now), overdueFor: undefined };
  }

  overdue(overdueFor: OverdueFor): void {
    this.#unclaimed &&= { ...this.#unclaimed, overdueFor };
  }

  of(uid: PodUid): AllocationRecord | undefined {
    return this.#allocations.get(uid);
  }

  isRunning(uid: PodUid): boolean {
    return this.#context.runtimePods.some((known) => known.podUid === uid && known.running);
  }

  /** Returns the hardware that an earlier kubelet process gave to the pod. */
  hardwareOf(uid: PodUid): PodHardware | undefined {
    return this.#allocations.get(uid)?.hardware ?? this.#inherited.get(uid);
  }

  /** Returns the hardware of a pod without a source: none once it has stopped, since it may have been given out again. */
  hardwareOfOrphan({ podUid, running }: ListedPod): PodHardware | undefined {
    return running ? this.hardwareOf(podUid) : undefined;
  }

  /**
   * Returns the hardware of unclaimed pods that run or may still be claimed, without that of one pod. Beside a running pod
   * only that of other running ones counts: the checkpoint of a pod that has stopped is older, and its hardware was given
   * out again. A record that has taken hardware over is the only one that counts it: memory counted twice would drive
   * running containers from their NUMA nodes.
   */
  hardwareExceptOf(uid: PodUid, records: Records): readonly PodHardware[] {
    const isOlder = this.#isSettled || this.isRunning(uid);
    return [...this.#allocations.keys(), ...this.#inherited.keys()].flatMap((known) => {
      const isHeld = known !== uid && !hasTakenOver(records.get(known)) && (!isOlder || this.isRunning(known));
      return isHeld ? (this.hardwareOf(known) ?? []) : [];
    });
  }

  /** Drops the allocation: the pod's record counts its resources from now on. */
  claim(uid: PodUid): void {
    this.#allocations = without(this.#allocations, (known) => known === uid);
    this.#inherited = without(this.#inherited, (known) => known === uid);
  }

  /** Returns the resources that running, unclaimed pods take. */
  resourcesByPod(records: Records): ReadonlyMap<PodUid, TakenResources> {
    return new Map(
      this.#context.runtimePods.flatMap((known) => {
        const resources = this.#resources(known, records.get(known.podUid));
        return resources === undefined ? [] : [[known.podUid, resources] as const];
      }),
    );
  }

  #resources(known: ListedPod, record: PodRecord | undefined): TakenResources | undefined {
    const restored = this.#allocations.get(known.podUid);
    if (restored === undefined || !known.running) return undefined;
    const resources = takenResources(unclaimedPod(known, restored.allocation, restored.requests), undefined);
    // A source may still claim it, even one that has reported.
    if (record === undefined) return leavingResources(resources, this.#isSettled ? undefined : this.#unclaimed);
    if (record.state === "waiting") return resources;
    return record.state === "terminating" ? leavingResources(resources, record.leaving) : undefined;
  }

  /** Returns this part of the next registry, without pods that no source has and that do not run. */
  left(records: Records): Pick<Registry, "restored" | "inherited" | "unclaimed"> {
    const isGone = (uid: PodUid): boolean => this.#isSettled && !records.has(uid) && !this.isRunning(uid);
    return {
      restored: without(this.#allocations, isGone),
      inherited: without(this.#inherited, isGone),
      unclaimed: this.#isSettled ? undefined : this.#unclaimed,
    };
  }
}

/** Whether the record says which hardware the pod has: a pod that waits has had no decision yet. */
const hasTakenOver = (record: PodRecord | undefined): boolean =>
  record !== undefined && (record.state !== "waiting" || record.hardware !== undefined);

/** Returns the map without some pods: the same map if it has none of them. */
function without<V>(pods: ReadonlyMap<PodUid, V>, isGone: (uid: PodUid) => boolean): ReadonlyMap<PodUid, V> {
  for (const uid of pods.keys()) if (isGone(uid)) return new Map([...pods].filter(([known]) => !isGone(known)));
  return pods;
}

const leavingResources = (resources: TakenResources, leaving: Leaving | undefined): TakenResources =>
  leaving === undefined || resources.held === undefined ? resources : { held: resources.held, leaving };
