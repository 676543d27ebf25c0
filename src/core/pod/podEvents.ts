/**
 * Messages and involved objects of events about a pod and its containers. Upstream: recordContainerEvent calls of
 * kuberuntime and the container references of their objects.
 */
import type { Pod } from "../api.ts";
import type { EventObject, KubeletEvent } from "../events.ts";
import { describePod } from "./crashLoopGate.ts";

/** `spec.containers{name}`, `spec.initContainers{name}` or `spec.ephemeralContainers{name}`. */
export function containerFieldPath(pod: Pod, name: string): string {
  const has = (specs: readonly { readonly name: string }[] | undefined): boolean =>
    (specs ?? []).some((spec) => spec.name === name);
  if (has(pod.spec.initContainers)) return `spec.initContainers{${name}}`;
  if (has(pod.spec.ephemeralContainers)) return `spec.ephemeralContainers{${name}}`;
  return `spec.containers{${name}}`;
}

/** The pod, or one of its containers, as the involved object of an event. */
export function podEventObject(pod: Pod, containerName?: string): EventObject {
  const { namespace, name, uid, resourceVersion } = pod.metadata;
  const fieldPath = containerName === undefined ? "" : containerFieldPath(pod, containerName);
  return { kind: "Pod", namespace, name, uid, ...(resourceVersion && { resourceVersion }), fieldPath };
}

const event = (
  pod: Pod,
  containerName: string | undefined,
  type: KubeletEvent["type"],
  reason: string,
  message: string,
): KubeletEvent => ({ type, reason, message, object: podEventObject(pod, containerName) });

/** Text of the Killing event when a container is stopped because its pod terminates. */
export const stoppingMessage = (containerName: string): string => `Stopping container ${containerName}`;

/** Text of the crash-loop event. It stays the same on repetition so that repetitions can be counted. */
const backOffMessage = (pod: Pod, containerName: string): string =>
  `Back-off restarting failed container ${containerName} in pod ${describePod(pod)}`;

/** A container was created in the runtime. */
export const createdEvent = (pod: Pod, containerName: string): KubeletEvent =>
  event(pod, containerName, "Normal", "Created", "Container created");

/** A container was started. */
export const startedEvent = (pod: Pod, containerName: string): KubeletEvent =>
  event(pod, containerName, "Normal", "Started", "Container started");

/** A container could not be created or started. `cause` is the API reason or the runtime's message. */
export const failedEvent = (pod: Pod, containerName: string, cause: string): KubeletEvent =>
  event(pod, containerName, "Warning", "Failed", `Error: ${cause}`);

/** The restart of a crashing container is delayed. */
export const backOffEvent = (pod: Pod, containerName: string): KubeletEvent =>
  event(pod, containerName, "Warning", "BackOff", backOffMessage(pod, containerName));

/** The sandbox must be recreated. */
export const sandboxChangedEvent = (pod: Pod): KubeletEvent =>
  event(pod, undefined, "Normal", "SandboxChanged", "Pod sandbox changed, it will be killed and re-created.");

/** The runtime could not create the sandbox. */
export const failedCreateSandboxEvent = (pod: Pod, cause: string): KubeletEvent =>
  event(pod, undefined, "Warning", "FailedCreatePodSandBox", `Failed to create pod sandbox: ${cause}`);
