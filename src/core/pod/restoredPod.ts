/**
 * Restores an orphaned pod from its container labels and annotations: enough to stop it with its own preStop hooks.
 * Upstream: restoreSpecsFromContainerLabels.
 */
import type { Container, Pod } from "../api.ts";
import { parseContainerAnnotations } from "../container/labels.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import type { PodIdentity } from "./podRegistry.ts";
import { findNamed } from "../findNamed.ts";

function restoredContainer({ name, annotations }: RuntimeContainer): Container {
  const { ports, preStopHandler } = parseContainerAnnotations(annotations);
  return { name, ports, ...(preStopHandler === undefined ? {} : { lifecycle: { preStop: preStopHandler } }) };
}

/**
 * Returns the pod with each container name once, with ports and preStop hooks. Sidecars cannot be recognized any more.
 */
export function restoredPod({ uid, name, namespace }: PodIdentity, { containers }: PodRuntimeStatus): Pod {
  const newest = containers.filter((each) => findNamed(containers, each.name) === each);
  return { metadata: { uid, name, namespace }, spec: { containers: newest.map(restoredContainer) } };
}
