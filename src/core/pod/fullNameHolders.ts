/** The pod that holds each full name. Only one pod of a name runs at a time. A part of RegistryDraft. */
import { copyMap } from "../copyMap.ts";
import { fullNameOf, type PodFullName, type PodUid } from "../ids.ts";
import type { PodRecord, Registry } from "./podRegistryTypes.ts";

/** A private copy of the holders of a registry. */
export class FullNameHolders {
  readonly holders: Map<PodFullName, PodUid>;

  constructor({ holders }: Pick<Registry, "holders">) {
    this.holders = copyMap(holders);
  }

  of(name: PodFullName): PodUid | undefined {
    return this.holders.get(name);
  }

  /** Gives the name to a pod that starts. */
  give(name: PodFullName, uid: PodUid): void {
    this.holders.set(name, uid);
  }

  /** Gives the name to a pod unless another pod holds it. */
  giveIfFree(name: PodFullName, uid: PodUid): void {
    if (!this.holders.has(name)) this.holders.set(name, uid);
  }

  /**
   * Takes the name from a pod, if the pod holds it, and passes it to another terminating pod of that name: no other pod
   * starts before all of them are gone.
   */
  release(name: PodFullName, holder: PodUid, records: ReadonlyMap<PodUid, PodRecord>): void {
    if (this.holders.get(name) !== holder) return;
    this.holders.delete(name);
    for (const [uid, record] of records) {
      const isGoing = record.state === "terminating" || record.state === "terminated";
      if (isGoing && fullNameOf(record.identity) === name) this.holders.set(name, uid);
    }
  }
}
