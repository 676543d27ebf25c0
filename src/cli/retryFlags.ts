/** Flags and options of `rxlet retry POD`. */
import { ownFlagValues, type ParsedFlags } from "./parseKubeletFlags.ts";
import type { FlagSpec } from "./flagSpec.ts";

/** What to retry, whom to ask, and as whom. Empty paths are not given. */
export interface RetryOptions {
  readonly namespace: string;
  readonly pod: string;
  /** Base URL of a kubelet's authenticated server, without a slash at the end. */
  readonly server: string;
  readonly certificateAuthority: string;
  readonly insecure: boolean;
  readonly clientCertificate: string;
  readonly clientKey: string;
  readonly tokenFile: string;
}

const base = { group: "rxlet", effective: true } as const;
const path = (name: string, about: string): FlagSpec => ({ ...base, name, type: "string", default: "", about });

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
  path("certificate-authority", "File with what signs the server's certificate"),
  {
    ...base,
    name: "insecure-skip-tls-verify",
    type: "bool",
    default: "false",
    about: "Take any certificate of the server",
  },
  path("client-certificate", "File with a client certificate; may hold its key too"),
  path("client-key", "File with the key of the client certificate"),
  path("token-file", "File with a bearer token"),
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
  const text = (name: string): string => String(values[name]);
  if (text("clientKey") !== "" && text("clientCertificate") === "") {
    faults.push("--client-key: is of no use without --client-certificate");
  }
  if (faults.length > 0) return { ok: false, errors: faults };
  return {
    ok: true,
    options: {
      namespace,
      pod,
      server,
      certificateAuthority: text("certificateAuthority"),
      insecure: values["insecureSkipTlsVerify"] === true,
      clientCertificate: text("clientCertificate"),
      clientKey: text("clientKey"),
      tokenFile: text("tokenFile"),
    },
  };
}
