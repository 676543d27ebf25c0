/**
 * The files of a volume that the kubelet fills: from ConfigMaps, Secrets, fields of the pod and tokens, in upstream's words
 * when something is missing. No message holds a value. Counterparts: MakePayload and CollectData of the volume plugins.
 */
import type { Pod } from "../api.ts";
import { decodeBase64 } from "../base64.ts";
import type { ConfigObject, ConfigObjects } from "../configObjects.ts";
import { type PodAddresses, podFieldText, resourceFieldText } from "../container/fieldRef.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import type { ResourceAmounts } from "../resources/resourceList.ts";
import { err, ok, type Result } from "../result.ts";
import type { TokenWish } from "../token/serviceAccountToken.ts";
import { fsUserOf } from "./fsUser.ts";
import type { Volume } from "./volumeLayout.ts";

/** One file; the path is its key in the payload. */
export interface PayloadFile {
  readonly content: Uint8Array;
  /** Permission bits. */
  readonly mode: number;
  /** Owner; absent: the kubelet's own user. */
  readonly uid?: number;
}

/** All files of a volume by path. */
export type Payload = ReadonlyMap<string, PayloadFile>;

/** What files are made of beside the pod. */
export interface PayloadSources {
  readonly objects: ConfigObjects;
  /** The token of a projection, or why there is none. */
  readonly token: (wish: TokenWish) => Result<string>;
  readonly allocatable: ResourceAmounts;
}

type Projection = NonNullable<NonNullable<Volume["projected"]>["sources"]>[number];
type TokenProjection = NonNullable<Projection["serviceAccountToken"]>;
type DownwardFile = NonNullable<NonNullable<Volume["downwardAPI"]>["items"]>[number];

interface KeyedSource {
  readonly kind: ConfigObject["kind"];
  readonly name: string;
  readonly items: readonly { readonly key: string; readonly path: string; readonly mode?: number }[];
  readonly optional: boolean;
}

const FILE_MODE = 0o644;
/** Of a token that belongs to somebody else than root. */
const PRIVATE_MODE = 0o600;
const TOKEN_SECONDS = 3600;
const NO_ADDRESSES: PodAddresses = { podIps: [], nodeIps: [] };
const utf8 = new TextEncoder();

const refuse = (message: string, code: KubeletError["code"] = "NotFound"): Result<never> =>
  err(kubeletError(code, message, { reason: "FailedMount" }));

/** The bytes of each key. */
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

function keyedFiles(pod: Pod, source: KeyedSource, defaultMode: number, objects: ConfigObjects): Result<Payload> {
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
    if (content !== undefined) files.set(path, { content, mode });
    else if (!optional) {
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
  amounts: ResourceAmounts,
): Result<Payload> {
  const files = new Map<string, PayloadFile>();
  const faults: string[] = [];
  for (const { path, mode = defaultMode, fieldRef, resourceFieldRef } of items) {
    const text =
      fieldRef === undefined
        ? resourceText(pod, resourceFieldRef, amounts)
        : podFieldText(pod, fieldRef.fieldPath, NO_ADDRESSES);
    if (text === undefined)
      faults.push(`unsupported fieldPath: ${fieldRef?.fieldPath ?? resourceFieldRef?.resource ?? ""}`);
    else files.set(path, { content: utf8.encode(text), mode });
  }
  return faults.length === 0 ? ok(files) : refuse(together(faults), "InvalidArgument");
}

function resourceText(pod: Pod, ref: DownwardFile["resourceFieldRef"], amounts: ResourceAmounts): string | undefined {
  const [first] = pod.spec.containers;
  return ref === undefined || first === undefined ? undefined : resourceFieldText(pod, first, ref, amounts);
}

/** The token a projection asks for. */
function tokenWish(pod: Pod, { audience = "", expirationSeconds = TOKEN_SECONDS }: TokenProjection): TokenWish {
  const { namespace, name, uid } = pod.metadata;
  return {
    namespace,
    serviceAccount: pod.spec.serviceAccountName ?? "",
    audiences: audience === "" ? [] : [audience],
    expirationSeconds,
    pod: { name, uid },
  };
}

function tokenFile(pod: Pod, wanted: TokenProjection, defaultMode: number, sources: PayloadSources): Result<Payload> {
  const token = sources.token(tokenWish(pod, wanted));
  if (!token.ok) return token;
  const uid = fsUserOf(pod);
  const isPrivate = uid !== undefined || pod.spec.securityContext?.fsGroup !== undefined;
  const file = { content: utf8.encode(token.value), mode: isPrivate ? PRIVATE_MODE : defaultMode };
  return ok(new Map([[wanted.path, uid === undefined ? file : { ...file, uid }]]));
}

function projectionFiles(pod: Pod, source: Projection, defaultMode: number, sources: PayloadSources): Result<Payload> {
  const { configMap, secret, downwardAPI, serviceAccountToken } = source;
  if (configMap !== undefined) return keyedFiles(pod, keyed("ConfigMap", configMap), defaultMode, sources.objects);
  if (secret !== undefined) return keyedFiles(pod, keyed("Secret", secret), defaultMode, sources.objects);
  if (downwardAPI !== undefined) return downwardFiles(pod, downwardAPI.items ?? [], defaultMode, sources.allocatable);
  if (serviceAccountToken !== undefined) return tokenFile(pod, serviceAccountToken, defaultMode, sources);
  const [kind = "without a source"] = Object.keys(source);
  return refuse(`projected source ${kind} is not served`, "Unimplemented");
}

const keyed = (
  kind: ConfigObject["kind"],
  { name = "", items = [], optional = false }: NonNullable<Projection["configMap"]>,
): KeyedSource => ({ kind, name, items, optional });

/** Several faults as upstream's aggregate prints them. */
const together = (faults: readonly string[]): string =>
  faults.length === 1 ? String(faults[0]) : `[${faults.join(", ")}]`;

/** The tokens the volume needs. */
export const tokenWishes = (pod: Pod, { projected }: Volume): readonly TokenWish[] =>
  (projected?.sources ?? []).flatMap(({ serviceAccountToken: wanted }) =>
    wanted === undefined ? [] : [tokenWish(pod, wanted)],
  );

/** Every file of the volume, or all that keeps it from having them. */
export function volumePayload(pod: Pod, volume: Volume, sources: PayloadSources): Result<Payload> {
  const { configMap, secret, downwardAPI, projected } = volume;
  if (configMap !== undefined) {
    return keyedFiles(pod, keyed("ConfigMap", configMap), configMap.defaultMode ?? FILE_MODE, sources.objects);
  }
  if (secret !== undefined) {
    const { secretName = "", defaultMode = FILE_MODE, ...more } = secret;
    return keyedFiles(pod, keyed("Secret", { ...more, name: secretName }), defaultMode, sources.objects);
  }
  if (downwardAPI !== undefined) {
    return downwardFiles(pod, downwardAPI.items ?? [], downwardAPI.defaultMode ?? FILE_MODE, sources.allocatable);
  }
  const defaultMode = projected?.defaultMode ?? FILE_MODE;
  const files = new Map<string, PayloadFile>();
  const errors: KubeletError[] = [];
  for (const source of projected?.sources ?? []) {
    const part = projectionFiles(pod, source, defaultMode, sources);
    if (!part.ok) errors.push(part.error);
    else for (const [path, file] of part.value) files.set(path, file);
  }
  const [first] = errors;
  return first === undefined
    ? ok(files)
    : err({ ...first, message: together([...new Set(errors.map(({ message }) => message))]) });
}
