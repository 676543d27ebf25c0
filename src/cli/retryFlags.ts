/** Flags and options of `rxlet retry POD`. */
import type { KubeletAccess } from "../core/auth/kubeletAccess.ts";
import { ACCESS_FLAGS, readAccess } from "./accessFlags.ts";
import { ownFlagValues, type ParsedFlags } from "./parseKubeletFlags.ts";
import type { FlagSpec } from "./flagSpec.ts";

/** What to retry, whom to ask, and as whom. */
export interface RetryOptions extends KubeletAccess {
  readonly namespace: string;
  readonly pod: string;
  /** Base URL of a kubelet's authenticated server, without a slash at the end. */
  readonly server: string;
}

const base = { group: "rxlet", effective: true } as const;

/** Flags of `rxlet retry`. */
export const RETRY_FLAGS: readonly FlagSpec[] = [
  { ...base, name: "namespace", short: "n", type: "string", default: "default", about: "Namespace of the pod" },
  {
    ...base,
    name: "server",
    type: "string",
    default: "https://127.0.0.1:10250",
    about: "URL of the kubelet's authenticated server",
  },
  ...ACCESS_FLAGS,
];

type Read =
  | { readonly ok: true; readonly options: RetryOptions }
  | { readonly ok: false; readonly errors: readonly string[] };

/** The options, or everything that is wrong with them. A pod may also be written `namespace/name`. */
export function readRetryFlags({ given, positional, errors }: ParsedFlags): Read {
  const values = ownFlagValues(given, RETRY_FLAGS);
  const faults = [...errors];
  const [written, ...rest] = positional;
  faults.push(...rest.map((text) => `unexpected argument ${JSON.stringify(text)}`));
  if (written === undefined) faults.push("retry needs the name of a pod: rxlet retry POD");
  const [, namespace = String(values["namespace"]), pod = ""] = /^(?:([^/]+)\/)?([^/]+)$/.exec(written ?? "") ?? [];
  if (written !== undefined && pod === "") faults.push(`${JSON.stringify(written)} is no name of a pod`);
  const server = String(values["server"]).replace(/\/+$/, "");
  if (!/^https:\/\/[^/]/.test(server))
    faults.push(`--server: must be a URL such as https://127.0.0.1:10250, got ${server}`);
  const { access, faults: useless } = readAccess(values, { given }, server);
  faults.push(...(faults.length === 0 ? useless : []));
  if (faults.length > 0) return { ok: false, errors: faults };
  return { ok: true, options: { namespace, pod, server, ...access } };
}
