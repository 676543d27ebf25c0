/**
 * Flags and options of the commands that print a page of a running rxlet: `rxlet explain POD`, `rxlet volumes [POD]`,
 * `rxlet pressure`, `rxlet resources`.
 */
import { ownFlagValues, type ParsedFlags } from "./parseKubeletFlags.ts";
import type { FlagSpec } from "./flagSpec.ts";
import { readPodName } from "./podName.ts";
import { type KubeletTarget, readTarget, TARGET_FLAGS } from "./targetFlags.ts";

/** The kubelet to query, and the output format. */
export interface ShowOptions {
  readonly target: KubeletTarget;
  readonly format: "text" | "json";
}

/** Options of `rxlet explain`. */
export interface ExplainOptions extends ShowOptions {
  readonly namespace: string;
  readonly pod: string;
}

/** Pod whose volumes are shown. */
export interface VolumesOptions extends ShowOptions {
  readonly namespace: string;
  /** Absent: all of the node. */
  readonly pod?: string;
}

const base = { group: "rxlet", effective: true } as const;
const READ_ONLY_PORT = 10_255;

/** Flags of `rxlet explain` and `rxlet volumes`. */
export const EXPLAIN_FLAGS: readonly FlagSpec[] = [
  { ...base, name: "namespace", short: "n", type: "string", default: "default", about: "Namespace of the pod" },
  {
    ...base,
    name: "port",
    type: "int32",
    default: String(READ_ONLY_PORT),
    about: "Read-only port on this machine; a running rxlet dev takes precedence over the default",
  },
  ...TARGET_FLAGS,
  { ...base, name: "output", short: "o", type: "string", default: "text", about: "text or json" },
];

/** Flags of `rxlet pressure` and `rxlet resources`. */
export const NODE_PAGE_FLAGS: readonly FlagSpec[] = EXPLAIN_FLAGS.filter(({ name }) => name !== "namespace");

type Read<Options> =
  | { readonly ok: true; readonly options: Options }
  | { readonly ok: false; readonly errors: readonly string[] };

/** The options, or everything that is wrong with them. A pod may also be written `namespace/name`. */
export function readVolumesFlags({ given, positional, errors }: ParsedFlags): Read<VolumesOptions> {
  const values = ownFlagValues(given, EXPLAIN_FLAGS);
  const { namespace, pod, faults: misnamed } = readPodName(positional, String(values["namespace"]));
  const faults = [...errors, ...misnamed];
  const port = Number(values["port"]);
  if (port < 1 || port > 65_535) faults.push(`--port: must be between 1 and 65535, got ${port}`);
  const urlOf = (number: number): string => `http://127.0.0.1:${number}`;
  const { target, faults: unreachable } = readTarget(
    values,
    { given },
    {
      otherwise: urlOf(READ_ONLY_PORT),
      readOnly: true,
      local: given.some(({ spec }) => spec.name === "port") ? urlOf(port) : undefined,
    },
  );
  faults.push(...unreachable);
  const format = String(values["output"]);
  if (format !== "text" && format !== "json") faults.push(`--output: must be text or json, got ${format}`);
  if (faults.length > 0 || (format !== "text" && format !== "json")) return { ok: false, errors: faults };
  const asked: VolumesOptions = { namespace, target, format };
  return { ok: true, options: pod === "" ? asked : { ...asked, pod } };
}

/** Likewise; the pod is required. */
export function readExplainFlags(parsed: ParsedFlags): Read<ExplainOptions> {
  const missing = parsed.positional.length > 0 ? [] : ["explain needs the name of a pod: rxlet explain POD"];
  const read = readVolumesFlags({ ...parsed, errors: [...parsed.errors, ...missing] });
  if (!read.ok) return read;
  const { pod = "", ...options } = read.options;
  return { ok: true, options: { ...options, pod } };
}

/** Likewise; there is no pod. */
export function readNodePageFlags(parsed: ParsedFlags): Read<ShowOptions> {
  const read = readVolumesFlags(parsed);
  if (!read.ok) return read;
  const { target, format } = read.options;
  return { ok: true, options: { target, format } };
}
