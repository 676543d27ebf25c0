/**
 * The picture of a static pod on the API server. Counterpart: CreateMirrorPod and IsMirrorPodOf of
 * pkg/kubelet/pod/mirror_client.go.
 */
import type { ApiPod } from "../api/toldPods.ts";
import type { Pod } from "../api.ts";

const MIRROR = "kubernetes.io/config.mirror";
const HASH = "kubernetes.io/config.hash";

/** Whether the object is only the picture of a static pod: nothing runs for it. */
export const isMirrorPod = ({ metadata }: ApiPod): boolean => metadata?.annotations?.[MIRROR] !== undefined;

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
