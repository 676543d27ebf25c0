/** Flags and options of `rxlet explain POD`. */
import { ownFlagValues, type ParsedFlags } from "./parseKubeletFlags.ts";
import type { FlagSpec } from "./flagSpec.ts";

/** What to explain, and whom to ask. */
export interface ExplainOptions {
  readonly namespace: string;
  readonly pod: string;
  /** Base URL of a kubelet's server, without a slash at the end. */
  readonly server: string;
  readonly format: "text" | "json";
}

const base = { group: "rxlet", effective: true } as const;

/** Flags of `rxlet explain`. */
export const EXPLAIN_FLAGS: readonly FlagSpec[] = [
  { ...base, name: "namespace", short: "n", type: "string", default: "default", about: "Namespace of the pod" },
  { ...base, name: "port", type: "int32", default: "10255", about: "Read-only port of the kubelet on this machine" },
  { ...base, name: "server", type: "string", default: "", about: "URL of the kubelet's server instead of a port here" },
  { ...base, name: "output", short: "o", type: "string", default: "text", about: "text or json" },
];

type Read =
  | { readonly ok: true; readonly options: ExplainOptions }
  | { readonly ok: false; readonly errors: readonly string[] };

/** The options, or everything that is wrong with them. A pod may also be written `namespace/name`. */
export function readExplainFlags({ given, positional, errors }: ParsedFlags): Read {
  const values = ownFlagValues(given, EXPLAIN_FLAGS);
  const faults = [...errors];
  const [written, ...rest] = positional;
  faults.push(...rest.map((text) => `unexpected argument ${JSON.stringify(text)}`));
  if (written === undefined) faults.push("explain needs the name of a pod: rxlet explain POD");
  const [, namespace = String(values["namespace"]), pod = ""] = /^(?:([^/]+)\/)?([^/]+)$/.exec(written ?? "") ?? [];
  if (written !== undefined && pod === "") faults.push(`${JSON.stringify(written)} is no name of a pod`);
  const port = Number(values["port"]);
  if (port < 1 || port > 65_535) faults.push(`--port: must be between 1 and 65535, got ${port}`);
  const server = String(values["server"]) === "" ? `http://127.0.0.1:${port}` : String(values["server"]);
  if (!/^https?:\/\/[^/]/.test(server))
    faults.push(`--server: must be a URL such as http://127.0.0.1:10255, got ${server}`);
  const format = String(values["output"]);
  if (format !== "text" && format !== "json") faults.push(`--output: must be text or json, got ${format}`);
  if (faults.length > 0 || (format !== "text" && format !== "json")) return { ok: false, errors: faults };
  return { ok: true, options: { namespace, pod, server: server.replace(/\/+$/, ""), format } };
}
