/**
/**
 * What pods need beside themselves: ConfigMaps, Secrets, services and RuntimeClasses, as the node knows them now. Pods of
 * manifests find the ConfigMaps and Secrets of manifests, pods of an API server those of the server. Counterparts: the
 * kubelet's configMapManager, secretManager, serviceLister and runtimeClassManager.
 */
import type { V1ConfigMap, V1RuntimeClass, V1Secret } from "@kubernetes/client-node";
import type { ObjectMeta, Pod, Wire } from "./api.ts";
import type { ServiceForEnv } from "./container/serviceEnv.ts";
import type { KubeletError } from "./errors.ts";
import { containerReferences } from "./pod/podReferences.ts";
import { type RuntimeClasses, runtimeHandlerOf } from "./runtime/runtimeHandler.ts";

type Identified = { readonly metadata: ObjectMeta & { readonly name: string; readonly namespace: string } };

/** A ConfigMap that passed a source: its identity is complete, its keys are valid. */
export type ConfigMap = Wire<V1ConfigMap> & Identified & { readonly kind: "ConfigMap" };

/** A Secret that passed a source: as a ConfigMap, with `stringData` taken into `data`. Its values are told nowhere. */
export type Secret = Wire<Omit<V1Secret, "stringData">> & Identified & { readonly kind: "Secret" };

export type ConfigObject = ConfigMap | Secret;

/** A RuntimeClass that passed a source; it belongs to no namespace. */
export type RuntimeClass = Wire<V1RuntimeClass> & {
  readonly kind: "RuntimeClass";
  readonly metadata: ObjectMeta & { readonly name: string };
};

/** What a manifest may hold beside pods. */
export type ManifestObject = ConfigObject | RuntimeClass;

/** Names an object among all, and in messages: `Secret default/web`, `RuntimeClass kata`. */
export type ManifestObjectKey = `${ConfigObject["kind"]} ${string}/${string}` | `RuntimeClass ${string}`;

/** One moment's knowledge; it does not change, a later moment is another value. */
export interface ConfigObjects {
  readonly configMap: (namespace: string, name: string) => ConfigMap | undefined;
  readonly secret: (namespace: string, name: string) => Secret | undefined;
  /** Why nobody knows whether the object is there. */
  readonly problem: (kind: ConfigObject["kind"], namespace: string, name: string) => KubeletError | undefined;
  /** Empty without an API server. */
  readonly services: readonly ServiceForEnv[];
  readonly runtimeClasses: RuntimeClasses;
}

/** Key of an object by what identifies it; a RuntimeClass has no namespace. */
export const objectKey = (kind: ManifestObject["kind"], namespace: string, name: string): ManifestObjectKey =>
  kind === "RuntimeClass" ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;

/** Key of an object. */
export const keyOf = ({ kind, metadata }: ManifestObject): ManifestObjectKey =>
  objectKey(kind, metadata.namespace ?? "", metadata.name);

/** What came of looking for one object. */
export type ConfigLookup =
  | { readonly kind: "found"; readonly object: ConfigObject }
  | { readonly kind: "missing" }
  | { readonly kind: "unknown"; readonly error: KubeletError };

/** What these lookups found. */
export function lookedUp(lookups: ReadonlyMap<ManifestObjectKey, ConfigLookup>): ConfigObjects {
  const outcomes = [...lookups];
  return configObjectsOf(
    outcomes.flatMap(([, lookup]) => (lookup.kind === "found" ? [lookup.object] : [])),
    [],
    new Map(outcomes.flatMap(([key, lookup]) => (lookup.kind === "unknown" ? [[key, lookup.error] as const] : []))),
  );
}

/** These objects; of two of one kind and name the first. */
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

export const NO_CONFIG_OBJECTS: ConfigObjects = configObjectsOf([]);

/** What a pod refers to: the handler of its class, and what its containers read, in the order of the spec; undefined is what is not there. */
export function objectsReadBy(pod: Pod, objects: ConfigObjects, classes: RuntimeClasses): readonly unknown[] {
  const { metadata, spec } = pod;
  const { namespace } = metadata;
  const { initContainers = [], containers, ephemeralContainers = [] } = spec;
  const read = [...initContainers, ...containers, ...ephemeralContainers].flatMap((container) =>
    containerReferences(container).map(({ kind, name }) =>
      kind === "ConfigMap" ? objects.configMap(namespace, name) : objects.secret(namespace, name),
    ),
  );
  const handler = runtimeHandlerOf(pod, classes);
  return [handler.ok ? handler.value : undefined, ...read];
}
