/** Resources that pods take of the node: pods of the registry, and pods that run since an earlier kubelet process. */
import { type Leaving, leavingDue, type OverdueFor } from "../admission/leavingPods.ts";
import type { TakenRoom } from "../admission/roomDecision.ts";
import type { AllocationRecord } from "../allocation/allocationFile.ts";
import { takenRoom } from "../allocation/heldRoom.ts";
import { unclaimedPod } from "../allocation/podAllocation.ts";
import type { PodUid } from "../ids.ts";
import type { ListedPod } from "../runtime/runtimeListing.ts";
import { roomOf } from "./podRecord.ts";
import type { PodRecord, Registry, RegistryContext } from "./podRegistryTypes.ts";

type Records = ReadonlyMap<PodUid, PodRecord>;

/** Returns the resources by UID, without those of pods that wait to start. */
export const roomsOf = (records: Records): ReadonlyMap<PodUid, TakenRoom> =>
  new Map(
    [...records].flatMap(([uid, record]) => {
      const room = roomOf(record);
      return room === undefined ? [] : [[uid, room] as const];
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

  /** Drops the allocation: the pod's record counts its resources from now on. */
  claim(uid: PodUid): void {
    if (!this.#allocations.has(uid)) return;
    this.#allocations = new Map([...this.#allocations].filter(([known]) => known !== uid));
  }

  /** Returns the resources that running, unclaimed pods take. */
  rooms(records: Records): ReadonlyMap<PodUid, TakenRoom> {
    return new Map(
      this.#context.runtimePods.flatMap((known) => {
        const room = this.#room(known, records.get(known.podUid));
        return room === undefined ? [] : [[known.podUid, room] as const];
      }),
    );
  }

  #room(known: ListedPod, record: PodRecord | undefined): TakenRoom | undefined {
    const allocation = this.#allocations.get(known.podUid)?.allocation;
    if (allocation === undefined || !known.running) return undefined;
    const room = takenRoom(unclaimedPod(known, allocation), undefined);
    switch (record?.state) {
      case undefined:
        // A source may still claim it, even one that has reported.
        return leavingRoom(room, this.#isSettled ? undefined : this.#unclaimed);
      case "waiting":
        return room;
      case "terminating":
        return leavingRoom(room, record.leaving);
      case "rejected":
      case "syncing":
      case "terminated":
        return undefined;
    }
  }

  /** Returns this part of the next registry. */
  left(): Pick<Registry, "restored" | "unclaimed"> {
    return { restored: this.#allocations, unclaimed: this.#isSettled ? undefined : this.#unclaimed };
  }
}

const leavingRoom = (room: TakenRoom, leaving: Leaving | undefined): TakenRoom =>
  leaving === undefined || room.held === undefined ? room : { held: room.held, leaving };
