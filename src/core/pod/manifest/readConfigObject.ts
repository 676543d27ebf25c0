/**
 * Reads a ConfigMap or Secret from a manifest: decodes it, sets the namespace and validates it. Problems never show
 * values of a Secret. Upstream: ValidateConfigMap and ValidateSecret of pkg/apis/core/validation.
 */
import type { ObjectMeta } from "../../api.ts";
import { encodeBase64 } from "../../base64.ts";
import type { ConfigMap, ConfigObject, Secret } from "../../configObjects.ts";
import {
  besideFaults,
  type FieldProblem,
  type FieldProblems,
  invalid,
  invalidEach,
  required,
  tooLong,
} from "../fieldProblem.ts";
import { utf8Length } from "../../utf8Length.ts";
import { configKey } from "../validateFormats.ts";
import { validateMetadata } from "../validateMetadata.ts";
import { decodeObject } from "./decodeObject.ts";

type Data = Readonly<Record<string, string>>;
type Raw = {
  readonly metadata?: ObjectMeta;
  readonly data?: Data;
  readonly binaryData?: Data;
  readonly stringData?: Data;
};

const MAX_BYTES = 1024 * 1024;

/** Required keys by Secret type. */
const NEEDED_KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ["kubernetes.io/dockercfg", [".dockercfg"]],
  ["kubernetes.io/dockerconfigjson", [".dockerconfigjson"]],
  ["kubernetes.io/ssh-auth", ["ssh-privatekey"]],
  ["kubernetes.io/tls", ["tls.crt", "tls.key"]],
]);

/** Reads one object of this kind. The object is undefined if any problem is an error. */
export function readConfigObject(
  kind: ConfigObject["kind"],
  value: unknown,
): { readonly object: ConfigObject | undefined; readonly problems: readonly FieldProblem[] } {
  const decoded = decodeObject<Raw>(kind, value, "", { hidesValues: kind === "Secret" });
  const { stringData, ...raw } = decoded.value;
  const { name = "", namespace = "" } = raw.metadata ?? {};
  const object = {
    ...raw,
    kind,
    metadata: { ...raw.metadata, name, namespace: namespace === "" ? "default" : namespace },
    ...(stringData === undefined ? {} : { data: { ...raw.data, ...encoded(stringData) } }),
  } as ConfigObject;
  const problems = [...decoded.problems, ...besideFaults(decoded.problems, violationsOf(object))];
  return { object: problems.some(({ severity }) => severity === "error") ? undefined : object, problems };
}

const encoded = (texts: Data): Data =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, encodeBase64(new TextEncoder().encode(text))]));

function* violationsOf(object: ConfigObject): FieldProblems {
  yield* validateMetadata(object.metadata, "metadata");
  yield* object.kind === "ConfigMap" ? configMapViolations(object) : secretViolations(object);
}

function* configMapViolations({ data = {}, binaryData = {} }: ConfigMap): FieldProblems {
  yield* keyViolations("data", data);
  yield* keyViolations("binaryData", binaryData);
  for (const key of Object.keys(binaryData)) {
    if (Object.hasOwn(data, key)) yield invalid(`binaryData[${key}]`, key, "duplicate key in both data and binaryData");
  }
  const texts = Object.values(data).reduce((sum, text) => sum + utf8Length(text), 0);
  if (texts + sizeOfBase64(binaryData) > MAX_BYTES) yield tooLong("", MAX_BYTES);
}

function* secretViolations({ data = {}, type = "Opaque", metadata: { annotations = {} } }: Secret): FieldProblems {
  yield* keyViolations("data", data);
  if (sizeOfBase64(data) > MAX_BYTES) yield tooLong("data", MAX_BYTES);
  const account = "kubernetes.io/service-account.name";
  if (type === "kubernetes.io/service-account-token" && (annotations[account] ?? "") === "") {
    yield required(`metadata.annotations[${account}]`);
  }
  const isThere = (key: string): boolean => Object.hasOwn(data, key);
  const missing = (NEEDED_KEYS.get(type) ?? []).filter((key) => !isThere(key));
  for (const key of missing) yield required(`data[${key}]`);
  if (type === "kubernetes.io/basic-auth" && !isThere("username") && !isThere("password")) {
    yield required("data[username]");
    yield required("data[password]");
  }
}

function* keyViolations(field: string, data: Data): FieldProblems {
  for (const key of Object.keys(data)) yield* invalidEach(`${field}[${key}]`, key, configKey(key));
}

/** Returns the decoded size of base64 texts in bytes. */
function sizeOfBase64(data: Data): number {
  let bytes = 0;
  for (const text of Object.values(data)) bytes += Math.floor((text.replace(/[\r\n=]/g, "").length * 3) / 4);
  return bytes;
}
