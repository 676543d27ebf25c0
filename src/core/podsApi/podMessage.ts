/**
 * Encodes pods as protobuf, as upstream's `v1.Pod.Marshal`. The schema of manifests has the fields and their types; messages
 * differ from JSON in times, quantities, ports by name, and in the fields of `INLINED`. Bound: the schema has no cycles.
 */
import { podSchema } from "../../gen/podSchema.ts";
import { PodMessage } from "../../gen/pods.ts";
import type { Pod } from "../api.ts";
import { parseInstant } from "../time/civilTime.ts";

/** Fields that JSON has beside the others, and protobuf in a message of their own. */
interface Inlined {
  readonly into: string;
  readonly isInside: (field: string) => boolean;
}

const INLINED: ReadonlyMap<string, Inlined> = new Map<string, Inlined>([
  ["Volume", { into: "volumeSource", isInside: (field) => field !== "name" }],
  ["EphemeralContainer", { into: "ephemeralContainerCommon", isInside: (field) => field !== "targetContainerName" }],
  ["Probe", { into: "handler", isInside: (field) => ["exec", "grpc", "httpGet", "tcpSocket"].includes(field) }],
  ...[
    "ConfigMapEnvSource",
    "ConfigMapKeySelector",
    "ConfigMapProjection",
    "ConfigMapVolumeSource",
    "SecretEnvSource",
    "SecretKeySelector",
    "SecretProjection",
  ].map((type) => [type, { into: "localObjectReference", isInside: (field: string) => field === "name" }] as const),
]);

type Fields = Record<string, unknown>;

/** A pod, or what is left of one that is gone. */
export type EncodablePod = Pick<Pod, "metadata"> & Partial<Pick<Pod, "spec" | "status">>;

/** Returns the bytes of the message k8s.io.api.core.v1.Pod. */
export const encodePod = (pod: EncodablePod): Uint8Array =>
  PodMessage.encode(PodMessage.fromPartial(messageOf("Pod", pod))).finish();

/** Returns the fields of a message, without values of other types than the schema's. `type` is a name of the schema. */
export function messageOf(type: string, value: object): Fields {
  const inlined = INLINED.get(type);
  const [own, inside]: [Fields, Fields] = [{}, {}];
  for (const [field, kind] of Object.entries(podSchema[type] ?? {})) {
    const item = converted(kind, (value as Readonly<Fields>)[field]);
    if (item !== undefined) (inlined?.isInside(field) === true ? inside : own)[field] = item;
  }
  return inlined === undefined || Object.keys(inside).length === 0 ? own : { ...own, [inlined.into]: inside };
}

function converted(kind: string, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (kind.endsWith("[]")) return Array.isArray(value) ? all(kind.slice(0, -2), value) : undefined;
  if (typeof value === "object") return convertedObject(kind, value);
  switch (kind) {
    case "string":
      return typeof value === "string" ? value : undefined;
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "int32":
      return Number.isInteger(value) && Math.abs(Number(value)) < MAX_INT32 ? value : undefined;
    case "int64":
      return Number.isSafeInteger(value) ? BigInt(Number(value)) : undefined;
    case "date":
      return typeof value === "string" ? timeOf(value) : undefined;
    case "quantity":
      return { string: String(value) };
    case "intOrString":
      return typeof value === "number"
        ? { type: 0n, intVal: converted("int32", value) }
        : { type: 1n, strVal: String(value) };
    default:
      return undefined;
  }
}

function convertedObject(kind: string, value: object): unknown {
  if (kind === "any") return { Raw: new TextEncoder().encode(JSON.stringify(value)) };
  if (!kind.endsWith("{}")) return kind in podSchema ? messageOf(kind, value) : undefined;
  const entries = Object.entries(value).map(([key, item]) => [key, converted(kind.slice(0, -2), item)] as const);
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
}

const all = (kind: string, items: readonly unknown[]): readonly unknown[] =>
  items.map((item) => converted(kind, item)).filter((item) => item !== undefined);

const MAX_INT32 = 2 ** 31;
const MS_PER_SECOND = 1_000;
const NANOS_PER_MS = 1_000_000;

/** Returns a Time; undefined for text that is no time. */
function timeOf(text: string): { readonly seconds: bigint; readonly nanos: number } | undefined {
  const at = parseInstant(text);
  if (at === undefined) return undefined;
  const seconds = Math.floor(at / MS_PER_SECOND);
  return { seconds: BigInt(seconds), nanos: Math.round((at - seconds * MS_PER_SECOND) * NANOS_PER_MS) };
}
