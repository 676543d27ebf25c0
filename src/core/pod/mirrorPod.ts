/**
 * The picture of a static pod on the API server. Counterpart: CreateMirrorPod and IsMirrorPodOf of
 * pkg/kubelet/pod/mirror_client.go.
 */
import type { ApiPod } from "../api/toldPods.ts";
import type { ApiContainerStatus, Pod, PodStatus } from "../api.ts";
import { isTerminalPhase } from "./phase.ts";
import { mayRestartAllContainers } from "./restartAllContainers.ts";
import { restartsAfterExit } from "./restartRules.ts";
import { findNamed } from "../findNamed.ts";

const MIRROR = "kubernetes.io/config.mirror";
const HASH = "kubernetes.io/config.hash";

/** Whether the object is only the picture of a static pod: nothing runs for it. */
export const isMirrorPod = ({ metadata }: ApiPod): boolean => metadata?.annotations?.[MIRROR] !== undefined;

/** The field that makes it one. */
export const MIRROR_FIELD = `metadata.annotations[${MIRROR}]`;

/** Which version of the static pod a mirror shows: the UID of that pod. */
export const mirrorHash = ({ metadata }: ApiPod): string | undefined => metadata?.annotations?.[MIRROR];

/** The mirror to create for a static pod, owned by its node. */
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
 * Whether the status on a mirror is that of an earlier life of a static pod, which its manifest was away from and came
 * back to unchanged: it was over, or a container that never runs again does. The server would refuse the newer one.
 */
export function isOfEarlierLife(mirrored: PodStatus, own: PodStatus, { spec }: Pod): boolean {
  if (isTerminalPhase(mirrored.phase) && own.phase !== undefined && !isTerminalPhase(own.phase)) return true;
  if (mayRestartAllContainers(spec)) return false;
  const statuses = statusesOf(own);
  return statusesOf(mirrored).some(({ name, state }) => {
    const container = findNamed(spec.initContainers, name) ?? findNamed(spec.containers, name);
    const now = findNamed(statuses, name);
    if (container === undefined || now === undefined || state?.terminated === undefined) return false;
    return now.state?.terminated === undefined && !restartsAfterExit(container, spec, state.terminated.exitCode);
  });
}

const statusesOf = ({
  initContainerStatuses = [],
  containerStatuses = [],
}: PodStatus): readonly ApiContainerStatus[] => [...initContainerStatuses, ...containerStatuses];
