/**
 * Objects that pods reference: ConfigMaps, Secrets, services and RuntimeClasses, as the node knows them now. Static
 * pods use the ConfigMaps and Secrets of manifests, API pods those of the API server.
 * Upstream: the kubelet's configMapManager, secretManager, serviceLister and runtimeClassManager.
 */
import type { V1ConfigMap, V1RuntimeClass, V1Secret } from "@kubernetes/client-node";
import type { ObjectMeta, Pod, Wire } from "./api.ts";
import type { ServiceForEnv } from "./container/serviceEnv.ts";
import type { KubeletError } from "./errors.ts";
import { allContainers } from "./pod/containers.ts";
import { containerReferences } from "./pod/podReferences.ts";
import { type RuntimeClasses, runtimeHandlerOf } from "./runtime/runtimeHandler.ts";

type Identified = { readonly metadata: ObjectMeta & { readonly name: string; readonly namespace: string } };

/** A ConfigMap that a source has validated: its identity is complete, its keys are valid. */
export type ConfigMap = Wire<V1ConfigMap> & Identified & { readonly kind: "ConfigMap" };

/** A Secret that a source has validated, with `stringData` merged into `data`. Its values appear in no message. */
export type Secret = Wire<Omit<V1Secret, "stringData">> & Identified & { readonly kind: "Secret" };

export type ConfigObject = ConfigMap | Secret;

/** A RuntimeClass that a source has validated; it is cluster-scoped. */
export type RuntimeClass = Wire<V1RuntimeClass> & {
  readonly kind: "RuntimeClass";
  readonly metadata: ObjectMeta & { readonly name: string };
};

/** Objects that a manifest may contain besides pods. */
export type ManifestObject = ConfigObject | RuntimeClass;

/** Identifies an object, also in messages: `Secret default/web`, `RuntimeClass kata`. */
export type ManifestObjectKey = `${ConfigObject["kind"]} ${string}/${string}` | `RuntimeClass ${string}`;

const NO_RUNTIME_CLASSES: RuntimeClasses = new Map();

/** The objects known at one time; read at once what is needed, since those of an API pod change in place. */
export interface ConfigObjects {
  readonly configMap: (namespace: string, name: string) => ConfigMap | undefined;
  readonly secret: (namespace: string, name: string) => Secret | undefined;
  /** The error that prevented the lookup; undefined when the object was found or is known to be missing. */
  readonly problem: (kind: ConfigObject["kind"], namespace: string, name: string) => KubeletError | undefined;
  /** Empty on a standalone node. */
  readonly services: readonly ServiceForEnv[];
  readonly runtimeClasses: RuntimeClasses;
  /** The only object that changed since the snapshot before; undefined when any may have changed. */
  readonly news?: ManifestObjectKey | undefined;
}

/** Returns the key of an object by its identity; a RuntimeClass has no namespace. */
export const objectKey = (kind: ManifestObject["kind"], namespace: string, name: string): ManifestObjectKey =>
  kind === "RuntimeClass" ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;

/** Returns the key of an object. */
export const keyOf = ({ kind, metadata }: ManifestObject): ManifestObjectKey =>
  objectKey(kind, metadata.namespace ?? "", metadata.name);

/** Outcome of looking up one object. */
export type ConfigLookup =
  | { readonly kind: "found"; readonly object: ConfigObject }
  | { readonly kind: "missing" }
  | { readonly kind: "unknown"; readonly error: KubeletError };

/**
 * Returns the objects that these lookups found, with the errors of the lookups that failed. The lookups are read when
 * asked for, so a later change of the map shows. `news` is the key of the only lookup that changed since the last time.
 */
export function lookedUp(
  lookups: ReadonlyMap<ManifestObjectKey, ConfigLookup>,
  news?: ManifestObjectKey,
): ConfigObjects {
  const find =
    <K extends ConfigObject["kind"]>(kind: K) =>
    (namespace: string, name: string) => {
      const lookup = lookups.get(objectKey(kind, namespace, name));
      return lookup?.kind === "found" ? (lookup.object as Extract<ConfigObject, { kind: K }>) : undefined;
    };
  return {
    configMap: find("ConfigMap"),
    secret: find("Secret"),
    problem: (kind, namespace, name) => {
      const lookup = lookups.get(objectKey(kind, namespace, name));
      return lookup?.kind === "unknown" ? lookup.error : undefined;
    },
    services: [],
    runtimeClasses: NO_RUNTIME_CLASSES,
    news,
  };
}

/** Builds a snapshot of these objects. When two have the same kind and name, the first wins. */
export function configObjectsOf(
  objects: readonly ManifestObject[],
  services: readonly ServiceForEnv[] = [],
  problems: ReadonlyMap<ManifestObjectKey, KubeletError> = new Map(),
): ConfigObjects {
  const byKey = new Map<ManifestObjectKey, ManifestObject>();
  for (const object of objects) if (!byKey.has(keyOf(object))) byKey.set(keyOf(object), object);
  const find =
    <K extends ConfigObject["kind"]>(kind: K) =>
    (namespace: string, name: string) =>
      byKey.get(objectKey(kind, namespace, name)) as Extract<ConfigObject, { kind: K }> | undefined;
  const classes = [...byKey.values()].filter((object) => object.kind === "RuntimeClass");
  return {
    configMap: find("ConfigMap"),
    secret: find("Secret"),
    problem: (kind, namespace, name) => problems.get(objectKey(kind, namespace, name)),
    services,
    runtimeClasses: new Map(classes.map((known) => [known.metadata.name, known])),
  };
}

/** A snapshot without objects. */
export const NO_CONFIG_OBJECTS: ConfigObjects = configObjectsOf([]);

/**
 * Returns the objects a pod references: the handler of its RuntimeClass, then the ConfigMaps and Secrets of its
 * containers in spec order; undefined for each missing one.
 */
export function objectsReadBy(pod: Pod, objects: ConfigObjects, classes: RuntimeClasses): readonly unknown[] {
  const { metadata, spec } = pod;
  const { namespace } = metadata;
  const read = allContainers(spec).flatMap((container) =>
    containerReferences(container).map(({ kind, name }) =>
      kind === "ConfigMap" ? objects.configMap(namespace, name) : objects.secret(namespace, name),
    ),
  );
  const handler = runtimeHandlerOf(pod, classes);
  return [handler.ok ? handler.value : undefined, ...read];
}
