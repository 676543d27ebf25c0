/** Sandboxes and containers that the runtime has for each pod, updated from its changes. */
import type { SimChange } from "../runtime/simRecords.ts";

export function podParts() {
  const parts = new Map<string, Set<string>>();
  return {
    has: (podUid: string): boolean => parts.has(podUid),
    /** Updates the table from a change; true when the change removed the last part of its pod. */
    isGoneAfter({ kind, id, podUid }: SimChange): boolean {
      const ofPod = parts.get(podUid) ?? new Set<string>();
      if (kind === "sandbox created" || kind === "container created") parts.set(podUid, ofPod.add(id));
      if (kind !== "sandbox removed" && kind !== "container removed") return false;
      ofPod.delete(id);
      return ofPod.size === 0 && parts.delete(podUid);
    },
  };
}
