/**
 * Restart of a whole pod in place. When a container exits and matches a rule with the action RestartAllContainers,
 * every container is stopped and removed, and the pod restarts in its sandbox, init containers first. The containers
 * that triggered the restart are removed last: as long as one exists, the restart is incomplete. Upstream:
 * ShouldAllContainersRestart, AllContainersRestartCleanedUp, getContainersToReset.
 */
import type { Container, Pod, PodSpec } from "../api.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import { podContainers } from "./containers.ts";
import { matchingRule, newestContainer } from "./restartRules.ts";
import { allNamed } from "../findNamed.ts";

/** A container to reset before the pod restarts. */
export interface ContainerReset {
  readonly container: RuntimeContainer;
  /** Whether it must be stopped first. */
  readonly kill: boolean;
  /** False for an ephemeral container, which is stopped but never runs again. */
  readonly remove: boolean;
}

/** Reason in the status of a container that such a restart removed. */
export const RESTARTING_ALL = "RestartingAllContainers";

/** Whether an exit of some container may restart the whole pod. */
export const mayRestartAllContainers = (spec: PodSpec): boolean =>
  podContainers(spec).some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === "RestartAllContainers"),
  );

const isSource = (spec: Container, { state, exitCode }: RuntimeContainer): boolean =>
  state === "exited" && matchingRule(spec, exitCode)?.action === "RestartAllContainers";

/** True from the exit that triggers the restart until every container is removed. */
export const isRestartingAllContainers = ({ spec }: Pod, runtime: PodRuntimeStatus): boolean =>
  podContainers(spec).some((container) => {
    const newest = newestContainer(runtime, container.name);
    return newest !== undefined && isSource(container, newest);
  });

/** Returns the containers to stop and remove, in order; empty when no restart is in progress. */
export function containersToReset(pod: Pod, runtime: PodRuntimeStatus): readonly ContainerReset[] {
  if (!isRestartingAllContainers(pod, runtime)) return [];
  const instancesOf = ({ name }: { readonly name: string }): readonly RuntimeContainer[] =>
    allNamed(runtime.containers, name);
  const resets = podContainers(pod.spec).flatMap((spec) =>
    instancesOf(spec).map((container) => ({
      container,
      kill: container.state !== "exited",
      remove: true,
      isSource: isSource(spec, container),
    })),
  );
  const ephemeral = (pod.spec.ephemeralContainers ?? [])
    .flatMap(instancesOf)
    .filter(({ state }) => state === "running" || state === "unknown")
    .map((container): ContainerReset => ({ container, kill: true, remove: false }));
  const [sources, targets] = [true, false].map((wanted) =>
    resets.filter((reset) => reset.isSource === wanted).map(({ isSource: _, ...reset }): ContainerReset => reset),
  );
  return [...ephemeral, ...(targets ?? []), ...(sources ?? [])];
}
