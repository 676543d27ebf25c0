/**
 * Environment variables from files that an init container wrote into a volume: `NAME='value'` lines, a subset of shell.
 * Counterparts: pkg/kubelet/util/env and the fileKeyRef of makeEnvironmentVariables.
 */
import type { Container } from "../api.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

type EnvVar = NonNullable<Container["env"]>[number];
export type FileKeyRef = NonNullable<NonNullable<EnvVar["valueFrom"]>["fileKeyRef"]>;

/** A file as it was read, or why it could not be. */
export interface EnvFile {
  /** On the node. */
  readonly path: string;
  readonly content: Result<string>;
}

/** The files a container's variables come from, by `envFileKey`; without those whose volume the pod does not have. */
export type EnvFiles = ReadonlyMap<string, EnvFile>;

export const envFileKey = ({ volumeName, path }: FileKeyRef): string => `${volumeName}/${path}`;

/** The references of a container, in the order of its variables. */
export const fileKeyRefs = ({ env = [] }: Pick<Container, "env">): readonly FileKeyRef[] =>
  env.flatMap(({ value, valueFrom }) => (value || valueFrom?.fileKeyRef === undefined ? [] : [valueFrom.fileKeyRef]));

const refuse = (message: string, cause?: KubeletError): Result<never> =>
  err(kubeletError("InvalidArgument", message, { reason: "CreateContainerConfigError", cause }));

/** The value a reference means; undefined when it is optional and there is no such file or key. */
export function fileKeyValue(ref: FileKeyRef, files: EnvFiles): Result<string | undefined> {
  const file = files.get(envFileKey(ref));
  if (file === undefined)
    return refuse(`cannot find the volume ${JSON.stringify(ref.volumeName)} referenced by FileKeyRef`);
  const { content, path } = file;
  if (!content.ok) {
    // Differs from upstream, which refuses a missing file even here, against the API's own words.
    const isFine = ref.optional === true && content.error.code === "NotFound";
    return isFine ? ok(undefined) : refuse("couldn't parse env file", content.error);
  }
  const value = envFileValue(content.value, ref.key);
  if (!value.ok) return refuse("couldn't parse env file", value.error);
  if (value.value !== "") return value;
  return ref.optional === true
    ? ok(undefined)
    : refuse(`environment variable key ${JSON.stringify(ref.key)} not found in file ${JSON.stringify(path)}`);
}

const fault = (line: number, why: string): Result<never> =>
  err(kubeletError("InvalidArgument", `invalid environment variable format at line ${line}: ${why}`));

/**
 * The value of `key`, empty when the file does not have it. The first of several counts, and what follows it is not
 * looked at. A fault names its line and never what stands there.
 */
export function envFileValue(text: string, key: string): Result<string> {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  for (let index = 0; index < lines.length; index += 1) {
    const start = index + 1;
    const line = (lines[index] ?? "").replace(/^[ \t]+/, "");
    if (line === "" || line.startsWith("#")) continue;
    const equals = line.indexOf("=");
    if (equals === -1) return fault(start, "missing '='");
    const name = line.slice(0, equals);
    if (name.trim() === "") return fault(start, "empty variable name");
    if (/[ \t]$/.test(name)) return fault(start, "whitespace before '=' is not allowed");
    let rest = line.slice(equals + 1);
    if (/^[ \t]/.test(rest)) {
      if (name === key) return ok("");
      continue;
    }
    if (!rest.startsWith("'")) return fault(start, "value must be enclosed in single quotes");
    rest = rest.slice(1);
    const parts: string[] = [];
    for (let closing = rest.indexOf("'"); closing === -1; closing = rest.indexOf("'")) {
      parts.push(rest);
      index += 1;
      if (index >= lines.length) return fault(start, "unclosed single quote");
      rest = lines[index] ?? "";
    }
    const closing = rest.indexOf("'");
    if (!/^[ \t]*(#|$)/.test(rest.slice(closing + 1)))
      return fault(index + 1, "unexpected content after closing quote");
    if (name === key) return ok([...parts, rest.slice(0, closing)].join("\n"));
  }
  return ok("");
}
