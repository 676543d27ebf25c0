/**
 * Decides whether this node admits a pod. The checks run in upstream's order and the first rejection counts; its reason
 * and message go into the pod's status. Upstream: pkg/kubelet/lifecycle/predicate.go, and the admission handlers before
 * and after it.
 */
import type { Pod } from "../api.ts";
import { podUid, type PodUid } from "../ids.ts";
import { appArmorFault } from "../container/appArmorProfile.ts";
import type { NodePressures } from "../node/nodeFacts.ts";
import { isCriticalPod, isStaticPod } from "../pod/criticalPod.ts";
import { hasPodLevelResources } from "../pod/resourceNames.ts";
import { forbiddenSysctl, type SysctlAllowlist } from "../pod/sysctls.ts";
import { type ResourceAmounts, parseResourceList } from "../resources/resourceList.ts";
import { undeclaredFeatures } from "./declaredFeatures.ts";
import { hostPortsConflict } from "./hostPorts.ts";
import { NODE_SHUTDOWN_MESSAGE, NODE_SHUTDOWN_REASON } from "../shutdown/shutdownTexts.ts";
import { type Labels, type Taint, matchesNode, toleratesNoExecute } from "./nodeSelection.ts";
import { podsToPreempt } from "./preemption.ts";
import { type InsufficientResource, insufficientResources, insufficientText } from "./resourceFit.ts";
import { pressureFault } from "./underPressure.ts";

/** The facts of the node that admission depends on. */
export interface NodeInfoForAdmission {
  readonly name: string;
  /** undefined: not known, and no pod is rejected for them. */
  readonly labels: Labels | undefined;
  readonly taints: readonly Taint[];
  /** Value of `kubernetes.io/os`: `linux`, `darwin`. */
  readonly os: string;
  /** Whether the runtime supports SupplementalGroupsPolicy Strict. */
  readonly supplementalGroupsPolicy: boolean;
  /** Sysctls that pods may set. */
  readonly sysctls: SysctlAllowlist;
  /** Whether the kernel enforces AppArmor profiles; undefined on systems without AppArmor. */
  readonly appArmor: boolean | undefined;
  readonly pressures: NodePressures;
  /** Whether the machine is about to shut down. */
  readonly shuttingDown: boolean;
  /** Features that the Node declares; undefined: none are declared, and no pod is rejected for a missing one. */
  readonly declaredFeatures: readonly string[] | undefined;
  /** Whether pods may have pod-level resources. */
  readonly podLevelResources: boolean;
}

/** The inputs of the admission of one pod. */
export interface AdmissionInput {
  readonly pod: Pod;
  readonly node: NodeInfoForAdmission;
  /** Admitted pods that are not terminal, without `pod`. */
  readonly activePods: readonly Pod[];
  readonly allocatable: ResourceAmounts;
  /** Maximum number of pods on this node, `podsPerCore` included. */
  readonly maxPods: number;
}

/** The decision: admitted, possibly after preemption, or rejected. */
export type AdmissionResult =
  | {
      readonly admitted: true;
      /** Pods to preempt first for a critical pod; usually empty. */
      readonly preempt: readonly PodUid[];
      /** Resource that is insufficient while they run; absent when no pod is preempted. */
      readonly shortOf?: string;
    }
  | { readonly admitted: false; readonly reason: string; readonly message: string };

const OS_LABEL = "kubernetes.io/os";

const refuse = (reason: string, message: string): AdmissionResult => ({ admitted: false, reason, message });
const ADMITTED: AdmissionResult = { admitted: true, preempt: [] };

/** Returns a rejection that preemption cannot avoid. */
function unsupported(pod: Pod, node: NodeInfoForAdmission): AdmissionResult | undefined {
  // Upstream compares the pod's own label, not its node selector; the latter is checked below.
  const osLabel = pod.metadata.labels?.[OS_LABEL];
  if (osLabel !== undefined && osLabel !== node.os) {
    return refuse(
      "PodOSSelectorNodeLabelDoesNotMatch",
      "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    );
  }
  if (pod.spec.os !== undefined && pod.spec.os.name !== node.os) {
    return refuse("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS");
  }
  const policy = pod.spec.securityContext?.supplementalGroupsPolicy;
  if (policy === "Strict" && !node.supplementalGroupsPolicy) {
    return refuse(
      "SupplementalGroupsPolicyNotSupported",
      "SupplementalGroupsPolicy=Strict is not supported in this node",
    );
  }
  return undefined;
}

const failedPredicate = (name: string, why: string): AdmissionResult =>
  refuse(name, `Predicate ${name} failed: ${why}`);

/** Returns why the pod is on the wrong node, in the order of the scheduler's filters. */
function misplaced({ pod, node, activePods }: AdmissionInput): AdmissionResult | undefined {
  if (node.labels !== undefined && !matchesNode(pod, node.name, { ...node.labels, [OS_LABEL]: node.os })) {
    return failedPredicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
  }
  if (pod.spec.nodeName && pod.spec.nodeName !== node.name) {
    return failedPredicate("NodeName", "node(s) didn't match the requested node name");
  }
  if (hostPortsConflict(pod, activePods)) {
    return failedPredicate("NodePorts", "node(s) didn't have free ports for the requested pod ports");
  }
  if (!isStaticPod(pod) && !toleratesNoExecute(pod, node.taints)) {
    return failedPredicate("TaintToleration", "node(s) had taints that the pod didn't tolerate");
  }
  return undefined;
}

/** Preempts pods for a critical pod, or rejects it when preemption cannot free enough. */
function admitByPreemption(
  { pod, activePods }: AdmissionInput,
  shortages: readonly InsufficientResource[],
): AdmissionResult {
  const preemption = podsToPreempt(pod, activePods, shortages);
  if (preemption.possible) {
    const preempt = preemption.pods.map(({ metadata }) => podUid(metadata.uid));
    const [first] = shortages;
    return { admitted: true, preempt, ...(first === undefined ? {} : { shortOf: first.name }) };
  }
  const missing = [...preemption.missing].map(([name, amount]) => `(res: ${name}, q: ${amount}), `);
  return refuse(
    "UnexpectedAdmissionError",
    "Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to " +
      `preempt: no set of running pods found to reclaim resources: [${missing.join("")}]`,
  );
}

/**
 * Returns a rejection of upstream's last checks: profiles that the kernel would not enforce, and features this kubelet
 * lacks.
 */
function unenforceable(pod: Pod, node: NodeInfoForAdmission): AdmissionResult | undefined {
  const { appArmor, declaredFeatures, podLevelResources } = node;
  const fault = appArmor === undefined ? undefined : appArmorFault(pod, appArmor);
  if (fault !== undefined) return refuse("AppArmor", `Cannot enforce AppArmor: ${fault}`);
  if (!podLevelResources && hasPodLevelResources(pod)) {
    return refuse("PodLevelResourcesNotSupported", "PodLevelResources feature gate is disabled");
  }
  const missing = undeclaredFeatures(pod, declaredFeatures);
  return missing === undefined ? undefined : refuse("PodFeatureUnsupported", missing);
}

/** Decides whether the node admits the pod, and which pods it must preempt. */
export function admitPod(input: AdmissionInput): AdmissionResult {
  const { pod, node } = input;
  // Differs from upstream: the first check instead of the last, so that no pod is preempted for one that is then rejected.
  if (node.shuttingDown) return refuse(NODE_SHUTDOWN_REASON, NODE_SHUTDOWN_MESSAGE);
  const pressure = pressureFault(pod, node.pressures);
  if (pressure !== undefined) return refuse("Evicted", pressure);
  const sysctl = forbiddenSysctl(pod, node.sysctls);
  if (sysctl !== undefined) return refuse("SysctlForbidden", sysctl);
  const refusal = unsupported(pod, node);
  if (refusal !== undefined) return refusal;
  const placed = placePod(input);
  // Differs from upstream: checked before preemption, so that no pod is preempted for one that is then rejected.
  return placed.admitted ? (unenforceable(pod, node) ?? placed) : placed;
}

/** Decides whether the pod belongs on this node and fits, possibly after preemption. */
function placePod(input: AdmissionInput): AdmissionResult {
  const { pod, activePods, maxPods } = input;
  const allocatable = parseResourceList(input.allocatable);
  const shortages = insufficientResources({ pod, activePods, allocatable, maxPods });
  const wrongNode = misplaced(input);
  const isCritical = isCriticalPod(pod);
  const [first] = shortages;
  // Preemption can resolve a critical pod's shortages, so the wrong node takes precedence as the reason.
  if (first !== undefined && !(isCritical && wrongNode !== undefined)) {
    return isCritical ? admitByPreemption(input, shortages) : refuse(`OutOf${first.name}`, insufficientText(first));
  }
  return wrongNode ?? ADMITTED;
}

/** Returns the maximum number of pods: `maxPods`, limited to `podsPerCore` per CPU when that is above 0. */
export const effectiveMaxPods = (maxPods: number, podsPerCore: number, cpuCount: number): number =>
  podsPerCore > 0 ? Math.min(maxPods, podsPerCore * cpuCount) : maxPods;
