/** The objects that a pod refers to: its node may read them. */
import type { V1Pod } from "@kubernetes/client-node";
import type { PodSpec, Wire } from "../../core/api.ts";
import { specReferences } from "../../core/pod/podReferences.ts";
import type { StoredObject } from "../../core/apiObjects/storedObject.ts";

/** Names by resource, in the pod's own namespace for namespaced resources. */
export interface PodReferences {
  readonly secrets: ReadonlySet<string>;
  readonly configmaps: ReadonlySet<string>;
  readonly persistentvolumeclaims: ReadonlySet<string>;
  readonly serviceaccounts: ReadonlySet<string>;
  readonly resourceclaims: ReadonlySet<string>;
  /** Names of bundles; a reference to all bundles of a signer is the name of the signer. */
  readonly clustertrustbundles: ReadonlySet<string>;
}

function* claimNames(spec: PodSpec, podName: string): Iterable<string | undefined> {
  for (const { name, persistentVolumeClaim, ephemeral } of spec.volumes ?? []) {
    yield persistentVolumeClaim?.claimName;
    if (ephemeral !== undefined) yield `${podName}-${name}`;
  }
}

function* bundleNames({ volumes = [] }: PodSpec): Iterable<string | undefined> {
  for (const { projected } of volumes) {
    for (const { clusterTrustBundle: bundle } of projected?.sources ?? []) yield bundle?.name ?? bundle?.signerName;
  }
}

/** Claims by name, those that were made for the pod, and the one of its extended resources. */
function* deviceClaimNames({ spec, status }: Wire<V1Pod>): Iterable<string | undefined> {
  for (const { resourceClaimName } of spec?.resourceClaims ?? []) yield resourceClaimName;
  for (const { resourceClaimName } of status?.resourceClaimStatuses ?? []) yield resourceClaimName;
  yield status?.extendedResourceClaimStatus?.resourceClaimName;
}

const named = (names: Iterable<string | undefined>): ReadonlySet<string> =>
  new Set([...names].filter((name) => name !== undefined && name !== "") as string[]);

const namesOf = (wanted: "Secret" | "ConfigMap", spec: PodSpec): ReadonlySet<string> =>
  new Set(specReferences(spec).flatMap(({ kind, name }) => (kind === wanted ? [name] : [])));

/** Returns the objects that a pod refers to. */
export function podReferences(object: StoredObject): PodReferences {
  const pod = object as unknown as Wire<V1Pod>;
  const { spec = { containers: [] } } = pod;
  return {
    secrets: namesOf("Secret", spec),
    configmaps: namesOf("ConfigMap", spec),
    persistentvolumeclaims: named(claimNames(spec, object.metadata.name)),
    serviceaccounts: named([spec.serviceAccountName]),
    resourceclaims: named(deviceClaimNames(pod)),
    clustertrustbundles: named(bundleNames(spec)),
  };
}
