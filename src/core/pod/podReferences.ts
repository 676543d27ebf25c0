/**
 * The ConfigMaps and Secrets a pod names, all in its own namespace: what its node may read for it, and keeps at hand.
 * Counterparts: VisitPodSecretNames and VisitPodConfigmapNames of pkg/api/pod.
 */
import type { Container, Pod, PodSpec } from "../api.ts";
import { perObject } from "../perObject.ts";

/** Names one object in the namespace of the pod. */
export interface ConfigReference {
  readonly kind: "ConfigMap" | "Secret";
  readonly name: string;
}

type Volume = NonNullable<PodSpec["volumes"]>[number];
type Named = { readonly name?: string } | undefined;

const configMap = (name: string | undefined): readonly ConfigReference[] =>
  name === undefined || name === "" ? [] : [{ kind: "ConfigMap", name }];
const secret = (name: string | undefined): readonly ConfigReference[] =>
  name === undefined || name === "" ? [] : [{ kind: "Secret", name }];
const secretOf = (ref: Named): readonly ConfigReference[] => secret(ref?.name);

/** What the environment of a container is made from, in the order of its fields. */
export const containerReferences = ({
  env = [],
  envFrom = [],
}: Pick<Container, "env" | "envFrom">): readonly ConfigReference[] => [
  ...envFrom.flatMap(({ configMapRef, secretRef }) => [...configMap(configMapRef?.name), ...secretOf(secretRef)]),
  ...env.flatMap(({ valueFrom }) => [
    ...configMap(valueFrom?.configMapKeyRef?.name),
    ...secretOf(valueFrom?.secretKeyRef),
  ]),
];

/** What the files of a volume are made from, and the credentials it is mounted with. */
export function volumeReferences(volume: Volume): readonly ConfigReference[] {
  const { projected, csi, iscsi, cephfs, cinder, rbd, flexVolume, scaleIO, storageos, azureFile } = volume;
  const credentials = [cephfs, cinder, rbd, flexVolume, scaleIO, storageos, iscsi].map((source) => source?.secretRef);
  return [
    ...configMap(volume.configMap?.name),
    ...secret(volume.secret?.secretName),
    ...(projected?.sources ?? []).flatMap((source) => [
      ...configMap(source.configMap?.name),
      ...secretOf(source.secret),
    ]),
    ...secret(azureFile?.secretName),
    ...secretOf(csi?.nodePublishSecretRef),
    ...credentials.flatMap(secretOf),
  ];
}

/** The credentials the pod's images are pulled with. */
export const pullSecretReferences = ({ imagePullSecrets = [] }: PodSpec): readonly ConfigReference[] =>
  imagePullSecrets.flatMap(secretOf);

/** Everything a spec names: pull secrets, environments, volumes; each once. */
export const specReferences = perObject((spec: PodSpec): readonly ConfigReference[] => {
  const { initContainers = [], containers, ephemeralContainers = [], volumes = [] } = spec;
  const all = [
    ...pullSecretReferences(spec),
    ...[...initContainers, ...containers, ...ephemeralContainers].flatMap(containerReferences),
    ...volumes.flatMap(volumeReferences),
  ];
  return [...new Map(all.map((reference) => [`${reference.kind} ${reference.name}`, reference])).values()];
});

/** Everything a pod names. */
export const podReferences = ({ spec }: Pod): readonly ConfigReference[] => specReferences(spec);
