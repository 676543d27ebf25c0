/**
 * Content of the volumes that the kubelet fills: from ConfigMaps, Secrets, pod fields and tokens, with upstream's
 * errors. No message contains a value. Upstream: MakePayload and CollectData of the volume plugins.
 */
import type { Pod } from "../api.ts";
import { decodeBase64 } from "../base64.ts";
import type { ConfigObject, ConfigObjects } from "../configObjects.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import type { ResourceAmounts } from "../resources/resourceList.ts";
import { err, ok, type Result } from "../result.ts";
import { type DownwardFile, downwardText } from "./downwardText.ts";
import { identityFiles, type IdentitySources } from "./identityFiles.ts";
import type { Payload, PayloadFile } from "./payloadFile.ts";
import { type VolumeBudget, volumeBudget } from "./volumeBudget.ts";
import type { Volume } from "./volumeLayout.ts";

/** Sources of the content besides the pod. */
export interface PayloadSources extends IdentitySources {
  readonly objects: ConfigObjects;
  readonly allocatable: ResourceAmounts;
}

/** The sources of one volume with the budget of its files. */
type BudgetedSources = PayloadSources & { readonly budget: VolumeBudget };

type Projection = NonNullable<NonNullable<Volume["projected"]>["sources"]>[number];

interface KeyedSource {
  readonly kind: ConfigObject["kind"];
  readonly name: string;
  readonly items: readonly { readonly key: string; readonly path: string; readonly mode?: number }[];
  readonly optional: boolean;
}

const FILE_MODE = 0o644;
const utf8 = new TextEncoder();

const refuse = (message: string, code: KubeletError["code"] = "NotFound"): Result<never> =>
  err(kubeletError(code, message, { reason: "FailedMount" }));

/** Returns the content of a key; undefined when absent. */
function valueAt(object: ConfigObject, key: string): Uint8Array | undefined {
  const { data = {} } = object;
  const found = Object.hasOwn(data, key) ? data[key] : undefined;
  if (object.kind === "Secret") return found === undefined ? undefined : decodeBase64(found);
  if (found !== undefined) return utf8.encode(found);
  const { binaryData = {} } = object;
  const binary = Object.hasOwn(binaryData, key) ? binaryData[key] : undefined;
  return binary === undefined ? undefined : decodeBase64(binary);
}

const keysOf = (object: ConfigObject): readonly string[] => [
  ...Object.keys(object.data ?? {}),
  ...(object.kind === "ConfigMap" ? Object.keys(object.binaryData ?? {}) : []),
];

function keyedFiles(
  pod: Pod,
  source: KeyedSource,
  defaultMode: number,
  { objects, budget }: BudgetedSources,
): Result<Payload> {
  const { kind, name, items, optional } = source;
  const { namespace } = pod.metadata;
  const problem = objects.problem(kind, namespace, name);
  if (problem !== undefined) return err(problem);
  const object = kind === "ConfigMap" ? objects.configMap(namespace, name) : objects.secret(namespace, name);
  if (object === undefined) return optional ? ok(new Map()) : refuse(`${kind.toLowerCase()} "${name}" not found`);
  const wanted = items.length > 0 ? items : keysOf(object).map((key) => ({ key, path: key }));
  const files = new Map<string, PayloadFile>();
  for (const { key, path, mode = defaultMode } of wanted as KeyedSource["items"]) {
    const content = valueAt(object, key);
    if (content !== undefined) {
      const taken = budget.take(`${kind.toLowerCase()} "${name}": key "${key}"`, content.length);
      if (!taken.ok) return taken;
      files.set(path, { content, mode });
    } else if (!optional) {
      const what =
        kind === "ConfigMap" ? "configmap references non-existent config key" : "references non-existent secret key";
      return refuse(`${what}: ${key}`);
    }
  }
  return ok(files);
}

function downwardFiles(
  pod: Pod,
  items: readonly DownwardFile[],
  defaultMode: number,
  { allocatable, budget }: BudgetedSources,
): Result<Payload> {
  const files = new Map<string, PayloadFile>();
  const faults: string[] = [];
  for (const item of items) {
    const text = downwardText(pod, item, allocatable);
    if (!text.ok) {
      faults.push(text.error.message);
      continue;
    }
    const content = utf8.encode(text.value);
    const taken = budget.take(`downwardAPI: file "${item.path}"`, content.length);
    if (!taken.ok) return taken;
    files.set(item.path, { content, mode: item.mode ?? defaultMode });
  }
  return faults.length === 0 ? ok(files) : refuse(together(faults), "InvalidArgument");
}

function projectionFiles(
  pod: Pod,
  volume: Volume,
  index: number,
  defaultMode: number,
  sources: BudgetedSources,
): Result<Payload> {
  const { configMap, secret, downwardAPI } = volume.projected?.sources?.[index] ?? {};
  if (configMap !== undefined) return keyedFiles(pod, keyed("ConfigMap", configMap), defaultMode, sources);
  if (secret !== undefined) return keyedFiles(pod, keyed("Secret", secret), defaultMode, sources);
  if (downwardAPI !== undefined) return downwardFiles(pod, downwardAPI.items ?? [], defaultMode, sources);
  const identity = identityFiles(pod, volume, index, defaultMode, sources);
  if (!identity.ok) return identity;
  const bytes = [...identity.value.values()].reduce((sum, { content }) => sum + content.length, 0);
  const taken = sources.budget.take(`projected.sources[${index}]`, bytes);
  return taken.ok ? identity : taken;
}

const keyed = (
  kind: ConfigObject["kind"],
  { name = "", items = [], optional = false }: NonNullable<Projection["configMap"]>,
): KeyedSource => ({ kind, name, items, optional });

/** Joins several problems in the format of upstream's aggregate. */
const together = (faults: readonly string[]): string =>
  faults.length === 1 ? String(faults[0]) : `[${faults.join(", ")}]`;

/** Returns all files of the volume, or all problems that prevent them. */
export function volumePayload(pod: Pod, volume: Volume, from: PayloadSources): Result<Payload> {
  const sources: BudgetedSources = { ...from, budget: volumeBudget(volume.name) };
  const { configMap, secret, downwardAPI, projected } = volume;
  if (configMap !== undefined) {
    return keyedFiles(pod, keyed("ConfigMap", configMap), configMap.defaultMode ?? FILE_MODE, sources);
  }
  if (secret !== undefined) {
    const { secretName = "", defaultMode = FILE_MODE, ...more } = secret;
    return keyedFiles(pod, keyed("Secret", { ...more, name: secretName }), defaultMode, sources);
  }
  if (downwardAPI !== undefined) {
    return downwardFiles(pod, downwardAPI.items ?? [], downwardAPI.defaultMode ?? FILE_MODE, sources);
  }
  const defaultMode = projected?.defaultMode ?? FILE_MODE;
  const files = new Map<string, PayloadFile>();
  const errors: KubeletError[] = [];
  for (const index of (projected?.sources ?? []).keys()) {
    const part = projectionFiles(pod, volume, index, defaultMode, sources);
    const exceeded = sources.budget.exceeded();
    if (exceeded !== undefined) return exceeded;
    if (!part.ok) errors.push(part.error);
    else for (const [path, file] of part.value) files.set(path, file);
  }
  const [first] = errors;
  return first === undefined
    ? ok(files)
    : err({ ...first, message: together([...new Set(errors.map(({ message }) => message))]) });
}
