/**
 * Environment variables from files that an init container wrote to a volume: `NAME='value'` lines, a subset of shell.
 * Upstream: pkg/kubelet/util/env and the fileKeyRef of makeEnvironmentVariables.
 */
import type { Container } from "../api.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import { perObject } from "../perObject.ts";
import { err, ok, type Result } from "../result.ts";

type EnvVar = NonNullable<Container["env"]>[number];
export type FileKeyRef = NonNullable<NonNullable<EnvVar["valueFrom"]>["fileKeyRef"]>;

/** A file's content, or the error of reading it. */
export interface EnvFile {
  /** Path on the node. */
  readonly path: string;
  readonly content: Result<string>;
}

/**
 * The files that a container's variables reference, by `envFileKey`; files in volumes that the pod lacks are absent.
 */
export type EnvFiles = ReadonlyMap<string, EnvFile>;

/** Returns the key of the referenced file. */
export const envFileKey = ({ volumeName, path }: FileKeyRef): string => `${volumeName}/${path}`;

/** Returns the file references of a container, in the order of its variables. */
export const fileKeyRefs = ({ env = [] }: Pick<Container, "env">): readonly FileKeyRef[] =>
  env.flatMap(({ value, valueFrom }) => (value || valueFrom?.fileKeyRef === undefined ? [] : [valueFrom.fileKeyRef]));

const refuse = (message: string, cause?: KubeletError): Result<never> =>
  err(kubeletError("InvalidArgument", message, { reason: "CreateContainerConfigError", cause }));

/** Returns the referenced value; undefined when the reference is optional and the file or key is missing. */
export function fileKeyValue(ref: FileKeyRef, files: EnvFiles): Result<string | undefined> {
  const file = files.get(envFileKey(ref));
  if (file === undefined)
    return refuse(`cannot find the volume ${JSON.stringify(ref.volumeName)} referenced by FileKeyRef`);
  const { content, path } = file;
  if (!content.ok) {
    // Differs from upstream, which fails for a missing file even here, contrary to the API's documentation.
    const isFine = ref.optional === true && content.error.code === "NotFound";
    return isFine ? ok(undefined) : refuse("couldn't parse env file", content.error);
  }
  const value = valueIn(entriesOf(file), ref.key);
  if (!value.ok) return refuse("couldn't parse env file", value.error);
  if (value.value !== "") return value;
  return ref.optional === true
    ? ok(undefined)
    : refuse(`environment variable key ${JSON.stringify(ref.key)} not found in file ${JSON.stringify(path)}`);
}

const fault = (line: number, why: string): KubeletError =>
  kubeletError("InvalidArgument", `invalid environment variable format at line ${line}: ${why}`);

/** The variables of a file up to its first syntax error. */
interface EnvFileEntries {
  /** When a name occurs several times, the first value counts. */
  readonly values: ReadonlyMap<string, string>;
  readonly fault?: KubeletError;
}

/** Parses each file once, however many variables reference it. */
const entriesOf = perObject(
  ({ content }: EnvFile): EnvFileEntries =>
    content.ok ? parseEnvFile(content.value) : { values: new Map(), fault: content.error },
);

/** Returns the value; the syntax error counts only for names that do not precede it. */
function valueIn({ values, fault }: EnvFileEntries, key: string): Result<string> {
  const value = values.get(key);
  if (value === undefined && fault !== undefined) return err(fault);
  return ok(value ?? "");
}

/**
 * Returns the value of `key`, empty when the file lacks it. The first occurrence counts and later lines are not read.
 * Errors name the line and never its content.
 */
export const envFileValue = (text: string, key: string): Result<string> => valueIn(parseEnvFile(text), key);

function parseEnvFile(text: string): EnvFileEntries {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  const values = new Map<string, string>();
  const upTo = (line: number, why: string): EnvFileEntries => ({ values, fault: fault(line, why) });
  for (let index = 0; index < lines.length; index += 1) {
    const start = index + 1;
    const line = (lines[index] ?? "").replace(/^[ \t]+/, "");
    if (line === "" || line.startsWith("#")) continue;
    const equals = line.indexOf("=");
    if (equals === -1) return upTo(start, "missing '='");
    const name = line.slice(0, equals);
    if (name.trim() === "") return upTo(start, "empty variable name");
    if (/[ \t]$/.test(name)) return upTo(start, "whitespace before '=' is not allowed");
    let rest = line.slice(equals + 1);
    if (/^[ \t]/.test(rest)) {
      if (!values.has(name)) values.set(name, "");
      continue;
    }
    if (!rest.startsWith("'")) return upTo(start, "value must be enclosed in single quotes");
    rest = rest.slice(1);
    const parts: string[] = [];
    for (let closing = rest.indexOf("'"); closing === -1; closing = rest.indexOf("'")) {
      parts.push(rest);
      index += 1;
      if (index >= lines.length) return upTo(start, "unclosed single quote");
      rest = lines[index] ?? "";
    }
    const closing = rest.indexOf("'");
    if (!/^[ \t]*(#|$)/.test(rest.slice(closing + 1))) return upTo(index + 1, "unexpected content after closing quote");
    if (!values.has(name)) values.set(name, [...parts, rest.slice(0, closing)].join("\n"));
  }
  return { values };
}
