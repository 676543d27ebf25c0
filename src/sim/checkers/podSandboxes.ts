/** Pods with a sandbox: a ready one, or any that was not removed. Bound: sandboxes of the runtime. */
import type { SimObservation } from "../simObservation.ts";

/** Creates the table. */
export function createPodSandboxes() {
  const ready = new Map<string, Set<string>>();
  const left = new Map<string, Set<string>>();
  const remove = (from: Map<string, Set<string>>, podUid: string, id: string): void => {
    const ofPod = from.get(podUid);
    ofPod?.delete(id);
    if (ofPod?.size === 0) from.delete(podUid);
  };
  return {
    hasReady: (uid: string): boolean => ready.has(uid),
    hasAny: (uid: string): boolean => left.has(uid),
    /** UIDs of pods with a sandbox in any state. */
    uids: (): readonly string[] => [...left.keys()],
    /** Updates the table from a change; true when the change created a sandbox. */
    note({ kind, id, podUid }: (SimObservation & { readonly kind: "change" })["change"]): boolean {
      if (kind === "sandbox stopped" || kind === "sandbox removed") remove(ready, podUid, id);
      if (kind === "sandbox removed") remove(left, podUid, id);
      if (kind !== "sandbox created") return false;
      for (const table of [ready, left]) table.set(podUid, (table.get(podUid) ?? new Set<string>()).add(id));
      return true;
    },
  };
}
