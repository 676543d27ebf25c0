/**
 * Restart of a whole pod in its sandbox: a container that ends as one of its rules with the action RestartAllContainers
 * says has every container stopped and removed, and the pod starts anew, init containers first. The containers that
 * asked for it are removed last: while one is there, the restart is not done, whoever looks.
 * Upstream: ShouldAllContainersRestart, AllContainersRestartCleanedUp, getContainersToReset.
 */
import type { Container, Pod, PodSpec } from "../api.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import { matchingRule, newestContainer } from "./restartRules.ts";
import { allNamed } from "../findNamed.ts";

/** One container on the way to a fresh start. */
export interface ContainerReset {
  readonly container: RuntimeContainer;
  /** It has to be stopped first. */
  readonly kill: boolean;
  /** False for an ephemeral container: stopped with the others, but never to run again. */
  readonly remove: boolean;
}

/** Reason, in the status, of what such a restart did to a container. */
export const RESTARTING_ALL = "RestartingAllContainers";

const containersOf = ({ initContainers = [], containers }: PodSpec): readonly Container[] => [
  ...initContainers,
  ...containers,
];

/** Whether some end of a container restarts the whole pod. */
export const mayRestartAllContainers = (spec: PodSpec): boolean =>
  containersOf(spec).some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === "RestartAllContainers"),
  );

const isSource = (spec: Container, { state, exitCode }: RuntimeContainer): boolean =>
  state === "exited" && matchingRule(spec, exitCode)?.action === "RestartAllContainers";

/** True from the end that asks for it until every container was removed. */
export const isRestartingAllContainers = ({ spec }: Pod, runtime: PodRuntimeStatus): boolean =>
  containersOf(spec).some((container) => {
    const newest = newestContainer(runtime, container.name);
    return newest !== undefined && isSource(container, newest);
  });

/** What is to be stopped and removed, in this order; empty when no restart is under way. */
export function containersToReset(pod: Pod, runtime: PodRuntimeStatus): readonly ContainerReset[] {
  if (!isRestartingAllContainers(pod, runtime)) return [];
  const instancesOf = ({ name }: { readonly name: string }): readonly RuntimeContainer[] =>
    allNamed(runtime.containers, name);
  const resets = containersOf(pod.spec).flatMap((spec) =>
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
