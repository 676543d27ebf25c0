/** What everybody takes of the node: the pods of the registry, and what runs since an earlier kubelet. */
import type { Leaving } from "../admission/leavingPods.ts";
import type { TakenRoom } from "../admission/roomDecision.ts";
import { takenRoom } from "../allocation/heldRoom.ts";
import { unclaimedPod } from "../allocation/podAllocation.ts";
import type { PodUid } from "../ids.ts";
import type { ListedPod } from "../runtime/runtimeListing.ts";
import { roomOf } from "./podRecord.ts";
import type { PodRecord, Registry } from "./podRegistryTypes.ts";

/** The part of the registry that says so. */
type RoomRegistry = Pick<Registry, "records" | "restored" | "unclaimed">;

/** Rooms by UID, without those of pods that wait to start. */
export function roomsOf(registry: RoomRegistry, runtimePods: readonly ListedPod[]): Map<PodUid, TakenRoom> {
  const rooms = new Map<PodUid, TakenRoom>();
  for (const [uid, record] of registry.records) {
    const room = roomOf(record);
    if (room !== undefined) rooms.set(uid, room);
  }
  for (const pod of runtimePods) {
    const room = unclaimedRoom(pod, registry);
    if (room !== undefined) rooms.set(pod.podUid, room);
  }
  return rooms;
}

/** What a pod takes that runs since before a restart of the kubelet, and that no source has claimed. */
function unclaimedRoom(known: ListedPod, { records, restored, unclaimed }: RoomRegistry): TakenRoom | undefined {
  const allocation = restored.get(known.podUid)?.allocation;
  if (allocation === undefined || !known.running) return undefined;
  const record = records.get(known.podUid);
  const room = takenRoom(unclaimedPod(known, allocation), undefined);
  switch (record?.state) {
    case undefined:
      // Its source, even one that has reported, may yet tell of it.
      return unclaimed === undefined ? room : { held: room.held, leaving: unclaimed };
    case "waiting":
      return room;
    case "terminating":
      return { held: room.held, ...leavingOf(record) };
    case "rejected":
    case "syncing":
    case "terminated":
      return undefined;
  }
}

const leavingOf = ({ leaving }: PodRecord): { readonly leaving?: Leaving } =>
  leaving === undefined ? {} : { leaving };
