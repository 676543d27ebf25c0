/** The objects a pod names: what its node may read for it. */
import type { V1Pod } from "@kubernetes/client-node";
import type { PodSpec, Wire } from "../../core/api.ts";
import type { StoredObject } from "./storedObject.ts";

/** Names by resource, all in the pod's own namespace. */
export interface PodReferences {
  readonly secrets: ReadonlySet<string>;
  readonly configmaps: ReadonlySet<string>;
  readonly persistentvolumeclaims: ReadonlySet<string>;
  readonly serviceaccounts: ReadonlySet<string>;
}

type Volume = NonNullable<PodSpec["volumes"]>[number];

const containersOf = ({ containers, initContainers = [], ephemeralContainers = [] }: PodSpec) => [
  ...containers,
  ...initContainers,
  ...ephemeralContainers,
];

function* volumeSecrets({ secret, projected, csi, iscsi, cephfs, rbd, flexVolume, azureFile }: Volume) {
  yield secret?.secretName;
  yield azureFile?.secretName;
  for (const source of projected?.sources ?? []) yield source.secret?.name;
  for (const { name } of [csi?.nodePublishSecretRef, iscsi?.secretRef].filter((ref) => ref !== undefined)) yield name;
  for (const ref of [cephfs?.secretRef, rbd?.secretRef, flexVolume?.secretRef]) yield ref?.name;
}

function* secretNames(spec: PodSpec): Iterable<string | undefined> {
  for (const { name } of spec.imagePullSecrets ?? []) yield name;
  for (const volume of spec.volumes ?? []) yield* volumeSecrets(volume);
  for (const { env = [], envFrom = [] } of containersOf(spec)) {
    for (const { valueFrom } of env) yield valueFrom?.secretKeyRef?.name;
    for (const { secretRef } of envFrom) yield secretRef?.name;
  }
}

function* configMapNames(spec: PodSpec): Iterable<string | undefined> {
  for (const { configMap, projected } of spec.volumes ?? []) {
    yield configMap?.name;
    for (const source of projected?.sources ?? []) yield source.configMap?.name;
  }
  for (const { env = [], envFrom = [] } of containersOf(spec)) {
    for (const { valueFrom } of env) yield valueFrom?.configMapKeyRef?.name;
    for (const { configMapRef } of envFrom) yield configMapRef?.name;
  }
}

function* claimNames(spec: PodSpec, podName: string): Iterable<string | undefined> {
  for (const { name, persistentVolumeClaim, ephemeral } of spec.volumes ?? []) {
    yield persistentVolumeClaim?.claimName;
    if (ephemeral !== undefined) yield `${podName}-${name}`;
  }
}

const named = (names: Iterable<string | undefined>): ReadonlySet<string> =>
  new Set([...names].filter((name) => name !== undefined && name !== "") as string[]);

/** What a pod refers to. */
export function podReferences(object: StoredObject): PodReferences {
  const { spec = { containers: [] } } = object as unknown as Wire<V1Pod>;
  return {
    secrets: named(secretNames(spec)),
    configmaps: named(configMapNames(spec)),
    persistentvolumeclaims: named(claimNames(spec, object.metadata.name)),
    serviceaccounts: named([spec.serviceAccountName]),
  };
}
