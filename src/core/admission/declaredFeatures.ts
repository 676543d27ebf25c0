/** Features of the kubelet that a pod requires. Upstream: component-helpers/nodedeclaredfeatures. */
import type { Pod } from "../api.ts";
import { mayRestartAllContainers } from "../pod/restartAllContainers.ts";

/** Returns the names of the gates of the features that this pod requires. */
function requiredFeatures({ spec }: Pod): readonly string[] {
  return [
    ...(mayRestartAllContainers(spec) ? ["RestartAllContainersOnContainerExits"] : []),
    ...(spec.hostNetwork === true && spec.hostUsers === false ? ["UserNamespacesHostNetworkSupport"] : []),
  ];
}

/** Returns why a node with these declared features cannot run the pod; undefined when it can, or declares nothing. */
export function undeclaredFeatures(pod: Pod, declared: readonly string[] | undefined): string | undefined {
  if (declared === undefined) return undefined;
  const missing = requiredFeatures(pod).filter((name) => !declared.includes(name));
  return missing.length === 0 ? undefined : `Pod requires node features that are not available: ${missing.join(", ")}`;
}
