/** Whether a node that runs short of something takes a pod. Counterpart: Admit of pkg/kubelet/eviction. */
import type { Pod } from "../api.ts";
import type { NodePressures } from "../node/nodeFacts.ts";
import { isCriticalPod } from "../pod/criticalPod.ts";
import { podQosClass } from "../pod/qos.ts";
import { type Taint, toleratesTaint } from "./nodeSelection.ts";

const MEMORY_TAINT: Taint = { key: "node.kubernetes.io/memory-pressure", effect: "NoSchedule" };

/**
 * Why it does not, in upstream's words with the blank at the end; undefined when it does. Critical pods are always taken;
 * with memory alone short, so are those that request any and those that tolerate it.
 */
export function pressureFault(pod: Pod, { memory, disk, pid }: NodePressures): string | undefined {
  if (!(memory || disk || pid) || isCriticalPod(pod)) return undefined;
  if (!disk && !pid && (podQosClass(pod) !== "BestEffort" || toleratesTaint(pod, MEMORY_TAINT))) return undefined;
  const conditions = [
    ...(memory ? ["MemoryPressure"] : []),
    ...(disk ? ["DiskPressure"] : []),
    ...(pid ? ["PIDPressure"] : []),
  ];
  return `The node had condition: [${conditions.join(" ")}]. `;
}
