/**
 * What pods need beside themselves: ConfigMaps, Secrets, services and RuntimeClasses, as the node knows them now.
 * Manifests fill it on a node of its own; an API server would fill the same. Counterparts: the kubelet's configMapManager,
 * secretManager, serviceLister and runtimeClassManager.
 */
import type { V1ConfigMap, V1RuntimeClass, V1Secret } from "@kubernetes/client-node";
import type { Container, ObjectMeta, Pod, Wire } from "./api.ts";
import type { ServiceForEnv } from "./container/serviceEnv.ts";
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

/** These objects; of two of one kind and name the first. */
export function configObjectsOf(
  objects: readonly ManifestObject[],
  services: readonly ServiceForEnv[] = [],
): ConfigObjects {
  const byKey = new Map<ManifestObjectKey, ManifestObject>();
  for (const object of objects) if (!byKey.has(keyOf(object))) byKey.set(keyOf(object), object);
  const find =
    <K extends ConfigObject["kind"]>(kind: K) =>
    (namespace: string, name: string) =>
      byKey.get(objectKey(kind, namespace, name)) as Extract<ConfigObject, { kind: K }> | undefined;
  const classes = [...byKey.values()].filter((object) => object.kind === "RuntimeClass");
  const runtimeClasses = new Map(classes.map((known) => [known.metadata.name, known]));
  return { configMap: find("ConfigMap"), secret: find("Secret"), services, runtimeClasses };
}

export const NO_CONFIG_OBJECTS: ConfigObjects = configObjectsOf([]);

/** What a pod refers to: the handler of its class, and what its containers read, in the order of the spec; undefined is what is not there. */
export function objectsReadBy(pod: Pod, objects: ConfigObjects, classes: RuntimeClasses): readonly unknown[] {
  const { metadata, spec } = pod;
  const { namespace } = metadata;
  const { initContainers = [], containers, ephemeralContainers = [] } = spec;
  const read = [...initContainers, ...containers, ...ephemeralContainers].flatMap((container) =>
    referencesOf(container).map(([kind, name]) =>
      kind === "ConfigMap" ? objects.configMap(namespace, name) : objects.secret(namespace, name),
    ),
  );
  const handler = runtimeHandlerOf(pod, classes);
  return [handler.ok ? handler.value : undefined, ...read];
}

type Reference = readonly [kind: ConfigObject["kind"], name: string];

function referencesOf({ env = [], envFrom = [] }: Pick<Container, "env" | "envFrom">): readonly Reference[] {
  const pairs = [
    ...envFrom.map(({ configMapRef, secretRef }) => [configMapRef, secretRef] as const),
    ...env.map(({ valueFrom }) => [valueFrom?.configMapKeyRef, valueFrom?.secretKeyRef] as const),
  ];
  return pairs.flatMap(([configMap, secret]): readonly Reference[] => [
    ...(configMap === undefined ? [] : [["ConfigMap", configMap.name ?? ""] as const]),
    ...(secret === undefined ? [] : [["Secret", secret.name ?? ""] as const]),
  ]);
}
