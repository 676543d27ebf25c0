/** Linux namespaces of pods and containers: the node's, the pod's or a container's. Upstream: kuberuntime/util. */
import type { Pod } from "../api.ts";
import { NamespaceMode, NamespaceOption, UserNamespace } from "../../gen/cri.ts";
import type { IdRange } from "../userns/idRanges.ts";

/** User namespace of a pod that uses the node's IDs. */
export const NODE_USER_NAMESPACE: UserNamespace = UserNamespace.fromPartial({ mode: NamespaceMode.NODE });

/** Returns the user namespace of a pod with its own IDs: root in the pod maps to the first ID of the range. */
export function podUserNamespace({ firstId, length }: IdRange): UserNamespace {
  const mapping = { hostId: firstId, containerId: 0, length };
  return UserNamespace.fromPartial({ mode: NamespaceMode.POD, uids: [mapping], gids: [mapping] });
}

function pidMode(pod: Pod): NamespaceMode {
  if (pod.spec.hostPID) return NamespaceMode.NODE;
  return pod.spec.shareProcessNamespace ? NamespaceMode.POD : NamespaceMode.CONTAINER;
}

/** Returns the namespaces of the pod. */
export function podNamespaces(pod: Pod, userNamespace: UserNamespace): NamespaceOption {
  return NamespaceOption.fromPartial({
    network: pod.spec.hostNetwork ? NamespaceMode.NODE : NamespaceMode.POD,
    pid: pidMode(pod),
    ipc: pod.spec.hostIPC ? NamespaceMode.NODE : NamespaceMode.POD,
    usernsOptions: userNamespace,
  });
}

/** Returns the namespaces of a container; an ephemeral container with a target shares the target's PID namespace. */
export function containerNamespaces(
  pod: Pod,
  userNamespace: UserNamespace,
  targetContainerId: string | undefined,
): NamespaceOption {
  const ofPod = podNamespaces(pod, userNamespace);
  if (targetContainerId === undefined || ofPod.pid !== NamespaceMode.CONTAINER) return ofPod;
  return NamespaceOption.fromPartial({ ...ofPod, pid: NamespaceMode.TARGET, targetId: targetContainerId });
}
