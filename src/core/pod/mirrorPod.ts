/**
 * Mirror pods: the representation of static pods on the API server. Upstream: CreateMirrorPod and IsMirrorPodOf
 * (pkg/kubelet/pod/mirror_client.go).
 */
import type { ApiPod } from "../api/apiPodObjects.ts";
import type { Pod, PodStatus } from "../api.ts";
import { findContainer, podContainerStatuses } from "./containers.ts";
import { isTerminalPhase } from "./phase.ts";
import { mayRestartAllContainers } from "./restartAllContainers.ts";
import { restartsAfterExit } from "./restartRules.ts";
import { findNamed } from "../findNamed.ts";

const MIRROR = "kubernetes.io/config.mirror";
const HASH = "kubernetes.io/config.hash";

/** Whether the object is a mirror pod. The kubelet does not run mirror pods. */
export const isMirrorPod = ({ metadata }: ApiPod): boolean => metadata?.annotations?.[MIRROR] !== undefined;

/** The field that marks a mirror pod. */
export const MIRROR_FIELD = `metadata.annotations[${MIRROR}]`;

/** Returns the version of the static pod that a mirror pod represents: the UID of that pod. */
export const mirrorHash = ({ metadata }: ApiPod): string | undefined => metadata?.annotations?.[MIRROR];

/** Returns the mirror pod to create for a static pod, owned by its node. */
export function mirrorPod({ apiVersion, kind, metadata, spec }: Pod, node: { name: string; uid: string }): ApiPod {
  const { uid, resourceVersion: _version, generation: _generation, ...kept } = metadata;
  const hash = metadata.annotations?.[HASH] ?? uid;
  return {
    apiVersion: apiVersion ?? "v1",
    kind: kind ?? "Pod",
    metadata: {
      ...kept,
      annotations: { ...metadata.annotations, [MIRROR]: hash },
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: node.name, uid: node.uid, controller: true }],
    },
    spec,
  };
}

/**
 * Whether the status on a mirror pod belongs to an earlier run of the static pod, whose manifest was removed and
 * restored unchanged: that run was terminal, or it had a terminated container that is never restarted. The API server
 * would reject the newer status.
 */
export function isOfEarlierLife(mirrored: PodStatus, own: PodStatus, { spec }: Pod): boolean {
  if (isTerminalPhase(mirrored.phase) && own.phase !== undefined && !isTerminalPhase(own.phase)) return true;
  if (mayRestartAllContainers(spec)) return false;
  const statuses = podContainerStatuses(own);
  return podContainerStatuses(mirrored).some(({ name, state }) => {
    const container = findContainer(spec, name);
    const now = findNamed(statuses, name);
    if (container === undefined || now === undefined || state?.terminated === undefined) return false;
    return now.state?.terminated === undefined && !restartsAfterExit(container, spec, state.terminated.exitCode);
  });
}
