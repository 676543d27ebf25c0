/** Sandboxes and containers that the runtime has for each pod, updated from its changes. */
import type { SimChange } from "../runtime/simRecords.ts";

const BEGINS: ReadonlySet<SimChange["kind"]> = new Set(["sandbox created", "container started"]);
const ENDS: ReadonlySet<SimChange["kind"]> = new Set([
  "sandbox stopped",
  "sandbox removed",
  "container exited",
  "container removed",
]);

export function podParts() {
  const parts = new Map<string, Set<string>>();
  const live = new Map<string, Set<string>>();
  const noteLife = ({ kind, id, podUid }: SimChange): void => {
    const ofPod = live.get(podUid) ?? new Set<string>();
    if (BEGINS.has(kind)) live.set(podUid, ofPod.add(id));
    if (!ENDS.has(kind)) return;
    ofPod.delete(id);
    if (ofPod.size === 0) live.delete(podUid);
  };
  return {
    has: (podUid: string): boolean => parts.has(podUid),
    /** Whether a sandbox is ready or a container runs. */
    lives: (podUid: string): boolean => live.has(podUid),
    /** Updates the table from a change; true when the change removed the last part of its pod. */
    isGoneAfter(change: SimChange): boolean {
      const { kind, id, podUid } = change;
      noteLife(change);
      const ofPod = parts.get(podUid) ?? new Set<string>();
      if (kind === "sandbox created" || kind === "container created") parts.set(podUid, ofPod.add(id));
      if (kind !== "sandbox removed" && kind !== "container removed") return false;
      ofPod.delete(id);
      return ofPod.size === 0 && parts.delete(podUid);
    },
  };
}
