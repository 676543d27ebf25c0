/**
 * Decides whether a container runs again after it exited, from the pod's restart policy, its own policy and its exit
 * code rules. Upstream: podutil.ContainerShouldRestart, IsContainerRestartable,
 * kubecontainer.ShouldContainerBeRestarted.
 */
import type { Container, Pod, PodSpec } from "../api.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import { allNamed } from "../findNamed.ts";

/**
 * Returns the current instance of a container: the newest, unless that was only created while an earlier one runs or
 * may run. Undefined when the runtime has none.
 */
export function newestContainer(runtime: PodRuntimeStatus, name: string): RuntimeContainer | undefined {
  const instances = allNamed(runtime.containers, name);
  const [newest] = instances;
  if (newest?.state !== "created") return newest;
  return instances.find(({ state }) => state === "running" || state === "unknown") ?? newest;
}

type RestartRule = NonNullable<Container["restartPolicyRules"]>[number];

function ruleMatches({ exitCodes }: RestartRule, exitCode: number): boolean {
  if (exitCodes === undefined) return false;
  const isListed = (exitCodes.values ?? []).includes(exitCode);
  return exitCodes.operator === "In" ? isListed : exitCodes.operator === "NotIn" && !isListed;
}

/** Returns the first rule of a container that matches `exitCode`. */
export const matchingRule = (container: Container, exitCode: number): RestartRule | undefined =>
  (container.restartPolicyRules ?? []).find((rule) => ruleMatches(rule, exitCode));

const RESTART_ACTIONS: ReadonlySet<string> = new Set(["Restart", "RestartAllContainers"]);

function policyRestarts(policy: string, exitCode: number): boolean {
  switch (policy) {
    case "Never":
      return false;
    case "OnFailure":
      return exitCode !== 0;
    default:
      return true;
  }
}

/**
 * Whether a container that exited with `exitCode` runs again. Its own restart policy takes precedence over the pod's,
 * and its first matching rule over both.
 */
export function restartsAfterExit(container: Container, spec: PodSpec, exitCode: number): boolean {
  if (container.restartPolicy === undefined) return policyRestarts(spec.restartPolicy ?? "Always", exitCode);
  const rule = matchingRule(container, exitCode);
  if (rule !== undefined && RESTART_ACTIONS.has(rule.action)) return true;
  return policyRestarts(container.restartPolicy, exitCode);
}

/** Whether a container killed for its probes runs again: its policy decides, its rules are ignored. */
export const restartsAfterKill = (container: Container, spec: PodSpec): boolean =>
  (container.restartPolicy ?? spec.restartPolicy) !== "Never";

/** Whether some exit code makes the container run again. */
export function canRestart(container: Container, spec: PodSpec): boolean {
  if (container.restartPolicy === undefined) return spec.restartPolicy !== "Never";
  if ((container.restartPolicyRules ?? []).some((rule) => RESTART_ACTIONS.has(rule.action))) return true;
  return container.restartPolicy !== "Never";
}

/**
 * Whether the container should be started now: it never started, was only created, is in unknown state, or exited and
 * is due to restart. No container starts in a pod that is being deleted.
 */
export function shouldContainerBeRestarted(container: Container, pod: Pod, runtime: PodRuntimeStatus): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  const newest = newestContainer(runtime, container.name);
  if (newest === undefined) return true;
  switch (newest.state) {
    case "running":
      return false;
    case "created":
    case "unknown":
      return true;
    case "exited":
      return restartsAfterExit(container, pod.spec, newest.exitCode);
  }
}

/** Whether the instance of an init container failed. An OOM kill counts even with exit code 0. */
export const isInitContainerFailed = (container: RuntimeContainer): boolean =>
  container.state === "unknown" ||
  (container.state === "exited" && (container.exitCode !== 0 || container.reason === "OOMKilled"));
