/** Which pods have a sandbox that was not stopped. Bound: sandboxes of the runtime. */
import type { SimObservation } from "../simObservation.ts";

/** Makes the table. */
export function createPodSandboxes() {
  const ready = new Map<string, Set<string>>();
  return {
    has: (uid: string): boolean => ready.has(uid),
    uids: (): readonly string[] => [...ready.keys()],
    /** Whether it is a new one. */
    note({ kind, id, podUid }: (SimObservation & { readonly kind: "change" })["change"]): boolean {
      const ofPod = ready.get(podUid) ?? new Set<string>();
      if (kind === "sandbox stopped" || kind === "sandbox removed") {
        ofPod.delete(id);
        if (ofPod.size === 0) ready.delete(podUid);
      }
      if (kind !== "sandbox created") return false;
      ready.set(podUid, ofPod.add(id));
      return true;
    },
  };
}
