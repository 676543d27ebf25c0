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
  /** How long other pods wait to learn whether a running pod still belongs to a source. */
  #unclaimed: Leaving | undefined;

  constructor({ restored, unclaimed, isSettled }: Registry, context: RegistryContext) {
    this.#context = context;
    this.#allocations = restored;
    this.#isSettled = isSettled;
    this.#unclaimed = unclaimed;
  }

  take(allocations: ReadonlyMap<PodUid, AllocationRecord>): void {
    this.#allocations = allocations;
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

  /** Returns the hardware of unclaimed pods that run or may still be claimed, without that of one pod. */
  hardwareExceptOf(uid: PodUid): readonly PodHardware[] {
    return [...this.#allocations].flatMap(([known, { hardware }]) => {
      const isHeld = known !== uid && (!this.#isSettled || this.isRunning(known));
      return isHeld && hardware !== undefined ? [hardware] : [];
    });
  }

  /** Drops the allocation: the pod's record counts its resources from now on. */
  claim(uid: PodUid): void {
    if (!this.#allocations.has(uid)) return;
    this.#allocations = new Map([...this.#allocations].filter(([known]) => known !== uid));
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
    const allocation = this.#allocations.get(known.podUid)?.allocation;
    if (allocation === undefined || !known.running) return undefined;
    const resources = takenResources(unclaimedPod(known, allocation), undefined);
    switch (record?.state) {
      case undefined:
        // A source may still claim it, even one that has reported.
        return leavingResources(resources, this.#isSettled ? undefined : this.#unclaimed);
      case "waiting":
        return resources;
      case "terminating":
        return leavingResources(resources, record.leaving);
      case "rejected":
      case "syncing":
      case "terminated":
        return undefined;
    }
  }

  /** Returns this part of the next registry, without pods that no source has and that do not run. */
  left(records: Records): Pick<Registry, "restored" | "unclaimed"> {
    if (!this.#isSettled) return { restored: this.#allocations, unclaimed: this.#unclaimed };
    const isGone = (uid: PodUid): boolean => !records.has(uid) && !this.isRunning(uid);
    const isAnyGone = [...this.#allocations.keys()].some(isGone);
    const restored = isAnyGone ? new Map([...this.#allocations].filter(([uid]) => !isGone(uid))) : this.#allocations;
    return { restored, unclaimed: undefined };
  }
}

const leavingResources = (resources: TakenResources, leaving: Leaving | undefined): TakenResources =>
  leaving === undefined || resources.held === undefined ? resources : { held: resources.held, leaving };
