/** Flags and options of the commands that show what a running rxlet knows: `rxlet explain POD`, `rxlet volumes [POD]`. */
import type { KubeletAccess } from "../core/auth/kubeletAccess.ts";
import { ACCESS_FLAGS, readAccess } from "./accessFlags.ts";
import { ownFlagValues, type ParsedFlags } from "./parseKubeletFlags.ts";
import type { FlagSpec } from "./flagSpec.ts";

/** Whom to ask and as whom, and what the answer is to be. */
export interface ShowOptions extends KubeletAccess {
  /** Base URL of a kubelet's server, without a slash at the end. */
  readonly server: string;
  readonly format: "text" | "json";
}

/** What to explain. */
export interface ExplainOptions extends ShowOptions {
  readonly namespace: string;
  readonly pod: string;
}

/** Whose volumes to show. */
export interface VolumesOptions extends ShowOptions {
  readonly namespace: string;
  /** Absent: all of the node. */
  readonly pod?: string;
}

const base = { group: "rxlet", effective: true } as const;

/** Flags of `rxlet explain` and `rxlet volumes`. */
export const EXPLAIN_FLAGS: readonly FlagSpec[] = [
  { ...base, name: "namespace", short: "n", type: "string", default: "default", about: "Namespace of the pod" },
  { ...base, name: "port", type: "int32", default: "10255", about: "Read-only port of the kubelet on this machine" },
  {
    ...base,
    name: "server",
    type: "string",
    default: "",
    about: "URL of the kubelet's server, read-only or authenticated, instead of a port here",
  },
  ...ACCESS_FLAGS,
  { ...base, name: "output", short: "o", type: "string", default: "text", about: "text or json" },
];

type Read<Options> =
  | { readonly ok: true; readonly options: Options }
  | { readonly ok: false; readonly errors: readonly string[] };

/** The options, or everything that is wrong with them. A pod may also be written `namespace/name`. */
export function readVolumesFlags({ given, positional, errors }: ParsedFlags): Read<VolumesOptions> {
  const values = ownFlagValues(given, EXPLAIN_FLAGS);
  const faults = [...errors];
  const [written, ...rest] = positional;
  faults.push(...rest.map((text) => `unexpected argument ${JSON.stringify(text)}`));
  const [, namespace = String(values["namespace"]), pod = ""] = /^(?:([^/]+)\/)?([^/]+)$/.exec(written ?? "") ?? [];
  if (written !== undefined && pod === "") faults.push(`${JSON.stringify(written)} is no name of a pod`);
  const port = Number(values["port"]);
  if (port < 1 || port > 65_535) faults.push(`--port: must be between 1 and 65535, got ${port}`);
  const server = String(values["server"]) === "" ? `http://127.0.0.1:${port}` : String(values["server"]);
  if (!/^https?:\/\/[^/]/.test(server))
    faults.push(`--server: must be a URL such as http://127.0.0.1:10255, got ${server}`);
  const { access, faults: useless } = readAccess(values, { given }, server);
  faults.push(...useless);
  const format = String(values["output"]);
  if (format !== "text" && format !== "json") faults.push(`--output: must be text or json, got ${format}`);
  if (faults.length > 0 || (format !== "text" && format !== "json")) return { ok: false, errors: faults };
  const asked: VolumesOptions = { namespace, server: server.replace(/\/+$/, ""), format, ...access };
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
