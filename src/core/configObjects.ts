/**
 * What containers are configured from beside their pod: ConfigMaps, Secrets and services, as the node knows them now.
 * Manifests fill it on a node of its own; an API server would fill the same. Counterparts: the kubelet's configMapManager,
 * secretManager and serviceLister.
 */
import type { V1ConfigMap, V1Secret } from "@kubernetes/client-node";
import type { Container, ObjectMeta, Pod, Wire } from "./api.ts";
import type { ServiceForEnv } from "./container/serviceEnv.ts";

type Identified = { readonly metadata: ObjectMeta & { readonly name: string; readonly namespace: string } };

/** A ConfigMap that passed a source: its identity is complete, its keys are valid. */
export type ConfigMap = Wire<V1ConfigMap> & Identified & { readonly kind: "ConfigMap" };

/** A Secret that passed a source: as a ConfigMap, with `stringData` taken into `data`. Its values are told nowhere. */
export type Secret = Wire<Omit<V1Secret, "stringData">> & Identified & { readonly kind: "Secret" };

export type ConfigObject = ConfigMap | Secret;

/** Names an object among all, and in messages: `Secret default/web`. */
export type ConfigObjectKey = `${ConfigObject["kind"]} ${string}/${string}`;

/** One moment's knowledge; it does not change, a later moment is another value. */
export interface ConfigObjects {
  readonly configMap: (namespace: string, name: string) => ConfigMap | undefined;
  readonly secret: (namespace: string, name: string) => Secret | undefined;
  /** Empty without an API server. */
  readonly services: readonly ServiceForEnv[];
}

/** Key of an object by what identifies it. */
export const configObjectKey = (kind: ConfigObject["kind"], namespace: string, name: string): ConfigObjectKey =>
  `${kind} ${namespace}/${name}`;

/** Key of an object. */
export const keyOf = ({ kind, metadata }: ConfigObject): ConfigObjectKey =>
  configObjectKey(kind, metadata.namespace, metadata.name);

/** These objects; of two of one kind and name the first. */
export function configObjectsOf(
  objects: readonly ConfigObject[],
  services: readonly ServiceForEnv[] = [],
): ConfigObjects {
  const byKey = new Map<ConfigObjectKey, ConfigObject>();
  for (const object of objects) if (!byKey.has(keyOf(object))) byKey.set(keyOf(object), object);
  const find =
    <K extends ConfigObject["kind"]>(kind: K) =>
    (namespace: string, name: string) =>
      byKey.get(configObjectKey(kind, namespace, name)) as Extract<ConfigObject, { kind: K }> | undefined;
  return { configMap: find("ConfigMap"), secret: find("Secret"), services };
}

export const NO_CONFIG_OBJECTS: ConfigObjects = configObjectsOf([]);

/** What a pod's containers read now, in the order of the spec; undefined stands for what is not there. */
export function objectsReadBy({ metadata: { namespace }, spec }: Pod, objects: ConfigObjects) {
  const { initContainers = [], containers, ephemeralContainers = [] } = spec;
  return [...initContainers, ...containers, ...ephemeralContainers].flatMap((container) =>
    referencesOf(container).map(([kind, name]) =>
      kind === "ConfigMap" ? objects.configMap(namespace, name) : objects.secret(namespace, name),
    ),
  );
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
