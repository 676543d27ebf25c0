/** Flags of commands that query a kubelet's server: credentials and trusted authorities. */
import type { KubeletAccess } from "../core/auth/kubeletAccess.ts";
import type { FlagSpec } from "./flagSpec.ts";
import type { ParsedFlags } from "./parseKubeletFlags.ts";

const base = { group: "rxlet", effective: true } as const;
const path = (name: string, about: string): FlagSpec => ({ ...base, name, type: "string", default: "", about });

/** The flags. */
export const ACCESS_FLAGS: readonly FlagSpec[] = [
  path("certificate-authority", "CA certificate file to verify the server"),
  {
    ...base,
    name: "insecure-skip-tls-verify",
    type: "bool",
    default: "false",
    about: "Do not verify the server's certificate",
  },
  path("client-certificate", "Client certificate file; it may also hold the key"),
  path("client-key", "Client key file"),
  path("token-file", "Bearer token file"),
];

/** Returns the given access flags, and the flags without effect beside `server`. */
export function readAccess(
  values: Readonly<Record<string, unknown>>,
  { given }: Pick<ParsedFlags, "given">,
  server: string,
): { readonly access: KubeletAccess; readonly faults: readonly string[] } {
  const text = (name: string): string => String(values[name]);
  const access: KubeletAccess = {
    certificateAuthority: text("certificateAuthority"),
    insecure: values["insecureSkipTlsVerify"] === true,
    clientCertificate: text("clientCertificate"),
    clientKey: text("clientKey"),
    tokenFile: text("tokenFile"),
  };
  const faults: string[] = [];
  if (access.clientKey !== "" && access.clientCertificate === "") {
    faults.push("--client-key: has no effect without --client-certificate");
  }
  if (!server.startsWith("https:")) {
    const names = new Set(ACCESS_FLAGS.map(({ name }) => name));
    const useless = given.filter(({ spec }) => names.has(spec.name));
    faults.push(...useless.map(({ spec }) => `--${spec.name}: has no effect with ${server}, give an https --server`));
  }
  return { access, faults };
}
