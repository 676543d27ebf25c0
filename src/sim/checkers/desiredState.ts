/** Differences between the desired and the actual pods of a node: none once every desired pod reached its goal. */
import type { Pod, PodSpec, PodStatus } from "../../core/api.ts";
import { isSidecar, podContainerStatuses } from "../../core/pod/containers.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import { SHUTDOWN_REASONS } from "../../core/shutdown/shutdownStatus.ts";
import type { SimNode } from "../simNode.ts";
import { POD_KINDS } from "../workload/podKinds.ts";
import { SIM_NAMESPACE, type WantedPod } from "../workload/workload.ts";
import { isSharedFileSystem } from "../workload/workloadClaims.ts";
import { hasSucceeded } from "./evictedAreTold.ts";

/** The part of a node that `openDesires` reads. */
export interface DesiredNode extends Pick<SimNode, "pods"> {
  readonly runtime: Pick<SimNode["runtime"], "sandboxes">;
}

/**
 * Lists one sentence per pod that has not reached its goal or is still there after its removal. A pod may wait for another one
 * that has its volume with another SELinux level.
 */
export function openDesires(node: DesiredNode, wanted: readonly WantedPod[]): readonly string[] {
  const known = new Map(node.pods().map((pod) => [pod.metadata.name, pod]));
  const problems = wanted.flatMap((want) => {
    const pod = known.get(want.name);
    const problem = pod === undefined ? "is not known to the kubelet" : problemOf(pod, want);
    return problem === undefined ? [] : [[want.name, problem] as const];
  });
  const stuck = withoutLabelWaits(new Set(problems.map(([name]) => name)), known);
  const missing = problems.flatMap(([name, problem]) =>
    stuck.has(name) ? [`${SIM_NAMESPACE}/${name} ${problem}`] : [],
  );
  const names = new Set(wanted.map(({ name }) => name));
  const surplus = [...new Set(node.runtime.sandboxes().map(({ config }) => config.metadata?.name ?? ""))].filter(
    (name) => !names.has(name),
  );
  return [...missing, ...surplus.map((name) => `${SIM_NAMESPACE}/${name} is not wanted and still there`)];
}

/** Returns the pods but those that wait for a pod with another SELinux level, which itself runs or waits for such a pod. */
function withoutLabelWaits(names: ReadonlySet<string>, known: ReadonlyMap<string, Pod>): ReadonlySet<string> {
  const pods = [...known.values()].filter(({ status }) => !isTerminalPhase(status?.phase));
  const left = [...names].filter((name) => {
    const own = known.get(name);
    return own === undefined || !pods.some((other) => !names.has(other.metadata.name) && contradict(own, other));
  });
  return left.length === names.size ? names : withoutLabelWaits(new Set(left), known);
}

const levelOf = ({ spec }: Pod): string | undefined => spec.securityContext?.seLinuxOptions?.level;

/** Whether the pods share a file system that has one label, and want different ones. */
const contradict = (pod: Pod, other: Pod): boolean => {
  const claims = sharedClaims(other);
  return levelOf(pod) !== levelOf(other) && sharedClaims(pod).some((claim) => claims.includes(claim));
};

const sharedClaims = ({ spec }: Pod): readonly string[] =>
  (spec.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) =>
    claim !== undefined && isSharedFileSystem(claim.claimName) ? [claim.claimName] : [],
  );

function problemOf({ metadata, spec, status }: Pod, { plan, uid }: WantedPod): string | undefined {
  if (uid !== undefined && metadata.uid !== uid) return `is still the pod of UID ${metadata.uid}`;
  const { phase, reason = "", containerStatuses = [] } = status ?? {};
  // A rejected, preempted or evicted pod is terminal whatever its goal. After a restart of the kubelet, the status of a
  // rejected pod lists its containers as lost.
  const gaveWay =
    containerStatuses.length === 0 ||
    ["Preempting", "Evicted", "UnexpectedAdmissionError", "TopologyAffinityError"].includes(reason) ||
    reason.startsWith("OutOf") ||
    // A static pod starts again after the shutdown.
    (plan.source === "api" && SHUTDOWN_REASONS.includes(reason));
  if (phase === "Failed" && gaveWay) return undefined;
  if (status !== undefined && isDisruptedHere(status) && hasSucceeded(status) && isInitialized(spec, status)) {
    return undefined;
  }
  const reported = podContainerStatuses(status).map(({ name, state, ready, restartCount }) => {
    const is = state?.running !== undefined ? "runs" : (state?.terminated?.reason ?? state?.waiting?.reason ?? "?");
    return `${name} ${is}${ready ? "" : " (not ready)"} #${restartCount}`;
  });
  const where = `is ${phase ?? "without a phase"} (${reported.join(", ")})`;
  switch (POD_KINDS[plan.kind]?.goal) {
    case "running": {
      const isUp = phase === "Running" && containerStatuses.every(({ ready }) => ready);
      return isUp || (spec.restartPolicy === "Never" && isTerminalPhase(phase)) ? undefined : where;
    }
    case "over":
      return isTerminalPhase(phase) ? undefined : where;
    case "trying":
      return containerStatuses.some(({ state, restartCount }) => isTried(state) || restartCount > 0) ||
        phase === "Failed" ||
        phase === "Succeeded"
        ? undefined
        : where;
    default:
      return undefined;
  }
}

/** Whether the kubelet ended the pod. As upstream, its containers may then decide that it has Succeeded. */
const isDisruptedHere = ({ conditions = [] }: PodStatus): boolean =>
  conditions.some(
    ({ type, status, reason }) => type === "DisruptionTarget" && status === "True" && reason === "TerminationByKubelet",
  );

/**
 * Whether all init containers but sidecars have completed once: without them no pod succeeds. A new sandbox repeats them;
 * as upstream, the pod may end meanwhile, and counts as succeeded by its regular containers of before.
 */
const isInitialized = ({ initContainers = [] }: PodSpec, { initContainerStatuses = [] }: PodStatus): boolean =>
  initContainers.every(
    (container) =>
      isSidecar(container) ||
      initContainerStatuses.some(
        ({ name, state, lastState }) =>
          name === container.name && [state, lastState].some((each) => each?.terminated?.exitCode === 0),
      ),
  );

const TRIED: ReadonlySet<string | undefined> = new Set([
  "CrashLoopBackOff",
  "ImagePullBackOff",
  "ErrImagePull",
  "RunContainerError",
]);
const isTried = (state: NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number]["state"]): boolean =>
  state?.running !== undefined || state?.terminated !== undefined || TRIED.has(state?.waiting?.reason);
