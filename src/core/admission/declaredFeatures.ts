/** Features of the kubelet that a pod cannot do without. Counterpart: component-helpers/nodedeclaredfeatures. */
import type { Pod } from "../api.ts";

/** Those that this pod needs, by the names of their gates. */
function requiredFeatures({ spec }: Pod): readonly string[] {
  const restartsAll = [...spec.containers, ...(spec.initContainers ?? [])].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === "RestartAllContainers"),
  );
  return [
    ...(restartsAll ? ["RestartAllContainersOnContainerExits"] : []),
    ...(spec.hostNetwork === true && spec.hostUsers === false ? ["UserNamespacesHostNetworkSupport"] : []),
  ];
}

/** Why a node that declares these cannot run the pod; undefined when it can, or declares nothing at all. */
export function undeclaredFeatures(pod: Pod, declared: readonly string[] | undefined): string | undefined {
  if (declared === undefined) return undefined;
  const missing = requiredFeatures(pod).filter((name) => !declared.includes(name));
  return missing.length === 0 ? undefined : `Pod requires node features that are not available: ${missing.join(", ")}`;
}
