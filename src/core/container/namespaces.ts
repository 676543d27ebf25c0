/** Which namespaces of the node, pod or container a container lives in. Counterpart: kuberuntime/util. */
import type { Pod } from "../api.ts";
import { NamespaceMode, NamespaceOption, UserNamespace } from "../../gen/cri.ts";
import type { IdRange } from "../userns/idRanges.ts";

/** That of a pod which has the ids of the node. */
export const NODE_USER_NAMESPACE: UserNamespace = UserNamespace.fromPartial({ mode: NamespaceMode.NODE });

/** That of a pod with ids of its own: root in the pod is the first of the range. */
export function podUserNamespace({ firstId, length }: IdRange): UserNamespace {
  const mapping = { hostId: firstId, containerId: 0, length };
  return UserNamespace.fromPartial({ mode: NamespaceMode.POD, uids: [mapping], gids: [mapping] });
}

function pidMode(pod: Pod): NamespaceMode {
  if (pod.spec.hostPID) return NamespaceMode.NODE;
  return pod.spec.shareProcessNamespace ? NamespaceMode.POD : NamespaceMode.CONTAINER;
}

/** Namespaces of the pod. */
export function podNamespaces(pod: Pod, userNamespace: UserNamespace): NamespaceOption {
  return NamespaceOption.fromPartial({
    network: pod.spec.hostNetwork ? NamespaceMode.NODE : NamespaceMode.POD,
    pid: pidMode(pod),
    ipc: pod.spec.hostIPC ? NamespaceMode.NODE : NamespaceMode.POD,
    usernsOptions: userNamespace,
  });
}

/** Namespaces of a container; with a target (of an ephemeral container) its processes are the target's. */
export function containerNamespaces(
  pod: Pod,
  userNamespace: UserNamespace,
  targetContainerId: string | undefined,
): NamespaceOption {
  const ofPod = podNamespaces(pod, userNamespace);
  if (targetContainerId === undefined || ofPod.pid !== NamespaceMode.CONTAINER) return ofPod;
  return NamespaceOption.fromPartial({ ...ofPod, pid: NamespaceMode.TARGET, targetId: targetContainerId });
}
