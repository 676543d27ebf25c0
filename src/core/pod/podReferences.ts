/**
 * The ConfigMaps and Secrets that a pod references, all in its own namespace: the node may read them and caches them.
 * Upstream: VisitPodSecretNames and VisitPodConfigmapNames of pkg/api/pod.
 */
import type { Container, Pod, PodSpec } from "../api.ts";
import { perObject } from "../perObject.ts";
import { allContainers } from "./containers.ts";

/** Names an object in the pod's namespace. */
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

/** References of a container's environment, in field order. */
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

/** References of a volume: its content and the credentials to mount it. */
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

/** References of the image pull secrets. */
export const pullSecretReferences = ({ imagePullSecrets = [] }: PodSpec): readonly ConfigReference[] =>
  imagePullSecrets.flatMap(secretOf);

/** All references of a spec (pull secrets, environments, volumes), without duplicates. */
export const specReferences = perObject((spec: PodSpec): readonly ConfigReference[] => {
  const { volumes = [] } = spec;
  const all = [
    ...pullSecretReferences(spec),
    ...allContainers(spec).flatMap(containerReferences),
    ...volumes.flatMap(volumeReferences),
  ];
  return [...new Map(all.map((reference) => [`${reference.kind} ${reference.name}`, reference])).values()];
});

/**
 * Limit for the ConfigMaps and Secrets of one API pod: each is a watch of its own on the API server. Differs from
 * upstream, which follows any number.
 */
export const MAX_REFERENCES = 1_024;

/** Returns the references of a spec beyond the limit, in the order of `specReferences`. */
export const excessReferences = perObject((spec: PodSpec): readonly ConfigReference[] =>
  specReferences(spec).slice(MAX_REFERENCES),
);

/** All references of a pod. */
export const podReferences = ({ spec }: Pod): readonly ConfigReference[] => specReferences(spec);
