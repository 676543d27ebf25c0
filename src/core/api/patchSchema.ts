/**
 * How strategic merge patches treat the fields of API objects: which lists merge by key and which as a set. All other
 * lists are replaced. Upstream: the patchStrategy and patchMergeKey tags of k8s.io/api.
 */

/** Merge rules of one field. Without a rule, maps merge key by key and other values are replaced. */
export interface PatchSchema {
  /** Key that identifies the elements of a list of maps. */
  readonly mergeKey?: string;
  /** A list of scalars that merges as a set. */
  readonly isSet?: boolean;
  /** Changed maps carry the list of their retained keys. */
  readonly retainKeys?: boolean;
  /** Fields of the map, or of each element of the list. */
  readonly fields?: Readonly<Record<string, PatchSchema>>;
}

/** The schema without merge rules. */
export const PLAIN: PatchSchema = {};

const by = (mergeKey: string, fields: PatchSchema["fields"] = {}): PatchSchema => ({ mergeKey, fields });
const record = (fields: PatchSchema["fields"] = {}): PatchSchema => ({ fields });

const METADATA = record({ ownerReferences: by("uid"), finalizers: { isSet: true } });

const CONTAINERS = by("name", {
  ports: by("containerPort"),
  env: by("name"),
  volumeMounts: by("mountPath"),
  volumeDevices: by("devicePath"),
});

const POD_SPEC = record({
  volumes: { ...by("name"), retainKeys: true },
  initContainers: CONTAINERS,
  containers: CONTAINERS,
  ephemeralContainers: CONTAINERS,
  imagePullSecrets: by("name"),
  hostAliases: by("ip"),
  topologySpreadConstraints: by("topologyKey"),
  schedulingGates: by("name"),
  resourceClaims: { ...by("name"), retainKeys: true },
});

/** Container statuses are replaced as a whole: their lists carry no merge key. */
const POD_STATUS = record({
  conditions: by("type"),
  hostIPs: by("ip"),
  podIPs: by("ip"),
  resourceClaimStatuses: { ...by("name"), retainKeys: true },
});

const SCHEMAS: Readonly<Record<string, PatchSchema>> = {
  Pod: record({ metadata: METADATA, spec: POD_SPEC, status: POD_STATUS }),
  Node: record({
    metadata: METADATA,
    spec: record({ podCIDRs: { isSet: true } }),
    status: record({ conditions: by("type"), addresses: by("type") }),
  }),
  Service: record({
    metadata: METADATA,
    spec: record({ ports: by("port") }),
    status: record({ conditions: by("type") }),
  }),
  ServiceAccount: record({ metadata: METADATA, secrets: by("name") }),
  Namespace: record({ metadata: METADATA, status: record({ conditions: by("type") }) }),
  PersistentVolumeClaim: record({ metadata: METADATA, status: record({ conditions: by("type") }) }),
  CSINode: record({ metadata: METADATA, spec: record({ drivers: by("name") }) }),
};

const DEFAULT_SCHEMA = record({ metadata: METADATA });

/** Returns the schema of a kind; kinds without merging lists share one. */
export const patchSchemaOf = (kind: string): PatchSchema => SCHEMAS[kind] ?? DEFAULT_SCHEMA;
