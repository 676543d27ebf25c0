/** Which namespaces of the node, pod or container a container lives in. Counterpart: kuberuntime/util. */
import type { Pod } from "../api.ts";
import { NamespaceMode, NamespaceOption } from "../../gen/cri.ts";

function pidMode(pod: Pod): NamespaceMode {
  if (pod.spec.hostPID) return NamespaceMode.NODE;
  return pod.spec.shareProcessNamespace ? NamespaceMode.POD : NamespaceMode.CONTAINER;
}

/** Namespaces of the pod; user namespaces are the node's. */
export function podNamespaces(pod: Pod): NamespaceOption {
  return NamespaceOption.fromPartial({
    network: pod.spec.hostNetwork ? NamespaceMode.NODE : NamespaceMode.POD,
    pid: pidMode(pod),
    ipc: pod.spec.hostIPC ? NamespaceMode.NODE : NamespaceMode.POD,
    usernsOptions: { mode: NamespaceMode.NODE },
  });
}

/** Namespaces of a container; with a target (of an ephemeral container) its processes are the target's. */
export function containerNamespaces(pod: Pod, targetContainerId: string | undefined): NamespaceOption {
  const ofPod = podNamespaces(pod);
  if (targetContainerId === undefined || ofPod.pid !== NamespaceMode.CONTAINER) return ofPod;
  return NamespaceOption.fromPartial({ ...ofPod, pid: NamespaceMode.TARGET, targetId: targetContainerId });
}
