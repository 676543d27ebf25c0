/**
 * Values of environment variables from ConfigMaps and Secrets, with upstream's errors. No message contains a value.
 * Upstream: makeEnvironmentVariables in kubelet_pods.go.
 */
import type { Container } from "../api.ts";
import { decodeBase64 } from "../base64.ts";
import type { ConfigObject, ConfigObjects } from "../configObjects.ts";
import { kubeletError, withReason } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** A variable's value. `bytes` is set when it is not valid UTF-8; `text` is then an approximation. */
export interface EnvValue {
  readonly text: string;
  readonly bytes?: Uint8Array;
}
type ObjectRef = { readonly name?: string; readonly optional?: boolean };
type KeyRef = ObjectRef & { readonly key: string };
type Kind = ConfigObject["kind"];

const REASON = "CreateContainerConfigError";

const refuse = (message: string): Result<never> => err(kubeletError("NotFound", message, { reason: REASON }));

/** Returns the object; undefined when the reference is optional and the object is missing. */
function find(
  kind: Kind,
  namespace: string,
  { name = "", optional = false }: ObjectRef,
  objects: ConfigObjects,
): Result<ConfigObject | undefined> {
  const problem = objects.problem(kind, namespace, name);
  if (problem !== undefined) return err(withReason(problem, REASON));
  const found = kind === "ConfigMap" ? objects.configMap(namespace, name) : objects.secret(namespace, name);
  return found === undefined && !optional ? refuse(`${kind.toLowerCase()} "${name}" not found`) : ok(found);
}

/** Returns the value of a key in `data`; `binaryData` does not provide variables. */
function valueAt({ kind, data = {} }: ConfigObject, key: string): EnvValue | undefined {
  const raw = Object.hasOwn(data, key) ? data[key] : undefined;
  if (raw === undefined) return undefined;
  if (kind === "ConfigMap") return { text: raw };
  const bytes = decodeBase64(raw);
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { text: new TextDecoder().decode(bytes), bytes };
  }
}

/** Returns the value of one key; undefined when the reference is optional and the key is missing. */
export function keyRefValue(
  kind: Kind,
  namespace: string,
  ref: KeyRef,
  objects: ConfigObjects,
): Result<EnvValue | undefined> {
  const found = find(kind, namespace, ref, objects);
  if (!found.ok || found.value === undefined) return found as Result<undefined>;
  const value = valueAt(found.value, ref.key);
  return value === undefined && ref.optional !== true
    ? refuse(`couldn't find key ${ref.key} in ${kind} ${namespace}/${ref.name ?? ""}`)
    : ok(value);
}

/** Counts a variable against the container's budget. */
type TakeVariable = (field: string, name: string, value: EnvValue) => Result<undefined>;

/**
 * Returns the variables of `envFrom`; later sources override earlier ones. No key is skipped: as upstream, any
 * printable name is valid, and all keys of ConfigMaps and Secrets are printable.
 */
export function wholeSources(
  { envFrom = [] }: Pick<Container, "envFrom">,
  namespace: string,
  objects: ConfigObjects,
  take: TakeVariable,
): Result<ReadonlyMap<string, EnvValue>> {
  const values = new Map<string, EnvValue>();
  for (const [index, { configMapRef, secretRef, prefix = "" }] of envFrom.entries()) {
    const [kind, ref] =
      configMapRef === undefined ? (["Secret", secretRef] as const) : (["ConfigMap", configMapRef] as const);
    if (ref === undefined) continue;
    const found = find(kind, namespace, ref, objects);
    if (!found.ok) return found;
    for (const key of Object.keys(found.value?.data ?? {}).sort()) {
      const value = found.value && valueAt(found.value, key);
      if (value === undefined) continue;
      const name = `${prefix}${key}`;
      const taken = take(`envFrom[${index}]`, name, value);
      if (!taken.ok) return taken;
      values.set(name, value);
    }
  }
  return ok(values);
}
