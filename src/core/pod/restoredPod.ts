/**
 * What the containers of a pod remember of it, when only the runtime knows it: enough to stop it as it asked for.
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

/** The pod, its containers named once each with ports and preStop hooks. Which of them are sidecars is forgotten. */
export function restoredPod({ uid, name, namespace }: PodIdentity, { containers }: PodRuntimeStatus): Pod {
  const newest = containers.filter((each) => findNamed(containers, each.name) === each);
  return { metadata: { uid, name, namespace }, spec: { containers: newest.map(restoredContainer) } };
}
