/** Finds the pod, container or sandbox that a URL of the kubelet's server names; errors have upstream's texts. */
import type { Pod } from "../api.ts";
import { kubeletError } from "../errors.ts";
import { allRegularFirst } from "../pod/containers.ts";
import { err, ok, type Result } from "../result.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../runtime/podRuntimeStatus.ts";

/** The decoded path of a URL. */
export interface PodPath {
  readonly namespace: string;
  readonly pod: string;
  /** Absent when the URL has no UID. */
  readonly uid?: string;
  readonly container?: string;
}

const notFound = (message: string): Result<never> => err(kubeletError("NotFound", message));

/** Returns the pod bound to this node. */
export function podOf(pods: readonly Pod[], { namespace, pod }: PodPath): Result<Pod> {
  const found = pods.find(({ metadata }) => metadata.name === pod && metadata.namespace === namespace);
  return found === undefined ? notFound("pod does not exist") : ok(found);
}

/** Returns the ID of a container's running instance. `missing` is the error text, by default upstream's of exec. */
export function runningContainer(
  statuses: readonly PodRuntimeStatus[],
  { metadata }: Pod,
  name: string,
  missing = `container not found (${JSON.stringify(name)})`,
): Result<RuntimeContainer> {
  const status = statuses.find(({ podUid }) => podUid === metadata.uid);
  const found = status?.containers.find((each) => each.name === name && each.state === "running");
  return found === undefined ? err(kubeletError("Unknown", missing)) : ok(found);
}

/** Returns the ID of the ready sandbox, whose network is reachable. */
export function readySandbox(statuses: readonly PodRuntimeStatus[], { metadata }: Pod): Result<string> {
  const status = statuses.find(({ podUid }) => podUid === metadata.uid);
  const sandbox = status?.sandboxes.find(({ ready }) => ready);
  return sandbox === undefined
    ? err(kubeletError("Unknown", `pod not found (${JSON.stringify(`${metadata.name}_${metadata.namespace}`)})`))
    : ok(sandbox.id);
}

/** Returns whether the spec gives a container a terminal; undefined when the spec has no such container. */
export function terminalOf({ spec }: Pod, name: string): boolean | undefined {
  const found = allRegularFirst(spec).find((each) => each.name === name);
  return found === undefined ? undefined : found.tty === true;
}
