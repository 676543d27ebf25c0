/**
 * Finds references of static pods to API objects. They are forbidden, because the API server has not authorized the pod
 * to read those objects. Upstream: HasAPIObjectReference of pkg/api/pod, behind the gate PreventStaticPodAPIReferences
 * (on by default).
 */
import type { Container, PodSpec } from "../api.ts";

/** A reference to an API object: the plural resource name and the referencing field. */
export interface ApiReference {
  readonly resource: string;
  readonly field: string;
  /** Whether a manifest can provide the object: ConfigMaps and Secrets of environments and volumes. */
  readonly isServed: boolean;
}

type Found = readonly [resource: string, path: string];
type Volume = NonNullable<PodSpec["volumes"]>[number];
type VolumeReferences = {
  readonly [Source in keyof Volume]?: (source: NonNullable<Volume[Source]>) => readonly Found[];
};

const SERVED_IN_VOLUMES = /^spec\.volumes\[\d+\]\.(configMap|secret|projected\.sources\[\d+\]\.(configMap|secret))$/;

const secretRef = (ref: { readonly name?: string } | undefined, path = "secretRef"): readonly Found[] =>
  (ref?.name ?? "") === "" ? [] : [["secrets", path]];

const VOLUMES: VolumeReferences = {
  secret: () => [["secrets", ""]],
  configMap: () => [["configmaps", ""]],
  azureFile: () => [["secrets (via azureFile volumes)", ""]],
  cephfs: (source) => secretRef(source.secretRef),
  cinder: (source) => secretRef(source.secretRef),
  flexVolume: (source) => secretRef(source.secretRef),
  iscsi: (source) => secretRef(source.secretRef),
  rbd: (source) => secretRef(source.secretRef),
  scaleIO: (source) => secretRef(source.secretRef),
  storageos: (source) => secretRef(source.secretRef),
  csi: () => [["csidrivers (via CSI volumes)", ""]],
  glusterfs: () => [["endpoints (via glusterFS volumes)", ""]],
  persistentVolumeClaim: () => [["persistentvolumeclaims", ""]],
  ephemeral: () => [["persistentvolumeclaims (via ephemeral volumes)", ""]],
  projected: (source) =>
    (source.sources ?? []).flatMap((projection, index): readonly Found[] =>
      Object.keys(projection).flatMap((key): readonly Found[] => {
        const resource = PROJECTIONS.get(key);
        return resource === undefined ? [] : [[resource, `sources[${index}].${key}`]];
      }),
    ),
};
const PROJECTIONS: ReadonlyMap<string, string> = new Map([
  ["configMap", "configmaps (via projected volumes)"],
  ["secret", "secrets (via projected volumes)"],
  ["serviceAccountToken", "serviceaccounts (via projected volumes)"],
  ["clusterTrustBundle", "clustertrustbundles"],
  ["podCertificate", "podcertificates"],
]);

/** Returns all API references of a static pod's spec in upstream's order of resources. Upstream reports the first. */
export function apiReferences(spec: PodSpec): readonly ApiReference[] {
  const containers = (["initContainers", "containers", "ephemeralContainers"] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap((container, index) => ofContainer(container, `spec.${list}[${index}]`)),
  );
  const pullSecrets = (spec.imagePullSecrets ?? []).flatMap((ref, index): readonly Found[] =>
    secretRef(ref, `spec.imagePullSecrets[${index}]`),
  );
  const claims = (spec.resourceClaims ?? []).map(
    (_, index): Found => ["resourceclaims", `spec.resourceClaims[${index}]`],
  );
  const account: readonly Found[] =
    (spec.serviceAccountName ?? "") === "" ? [] : [["serviceaccounts", "spec.serviceAccountName"]];
  const volumes = (spec.volumes ?? []).flatMap((volume, index) => ofVolume(volume, `spec.volumes[${index}]`));
  return [...account, ...pullSecrets, ...containers, ...claims, ...volumes].map((found) => {
    const [resource, field] = found;
    return { resource, field, isServed: containers.includes(found) || SERVED_IN_VOLUMES.test(field) };
  });
}

/** Whether the reference is rejected even with the gate off. */
export const alwaysRefused = ({ resource }: ApiReference): boolean =>
  resource === "clustertrustbundles" || resource === "resourceclaims";

function ofContainer({ env = [], envFrom = [] }: Pick<Container, "env" | "envFrom">, path: string): readonly Found[] {
  const single = env.flatMap(({ valueFrom }, index): readonly Found[] => [
    ...(valueFrom?.secretKeyRef === undefined
      ? []
      : [["secrets", `${path}.env[${index}].valueFrom.secretKeyRef`] as const]),
    ...(valueFrom?.configMapKeyRef === undefined
      ? []
      : [["configmaps", `${path}.env[${index}].valueFrom.configMapKeyRef`] as const]),
  ]);
  const whole = envFrom.flatMap(({ secretRef: secret, configMapRef }, index): readonly Found[] => [
    ...(secret === undefined ? [] : [["secrets", `${path}.envFrom[${index}].secretRef`] as const]),
    ...(configMapRef === undefined ? [] : [["configmaps", `${path}.envFrom[${index}].configMapRef`] as const]),
  ]);
  return [...single, ...whole];
}

function ofVolume(volume: Volume, path: string): readonly Found[] {
  return (Object.keys(volume) as (keyof Volume)[]).flatMap((source): readonly Found[] => {
    const references = VOLUMES[source] as ((source: unknown) => readonly Found[]) | undefined;
    return (references?.(volume[source]) ?? []).map(([resource, below]) => [
      resource,
      below === "" ? `${path}.${source}` : `${path}.${source}.${below}`,
    ]);
  });
}
