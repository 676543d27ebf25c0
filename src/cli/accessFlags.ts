/** Flags of commands that ask a kubelet's server: as whom, and what to trust. */
import type { KubeletAccess } from "../core/auth/kubeletAccess.ts";
import type { FlagSpec } from "./flagSpec.ts";
import type { ParsedFlags } from "./parseKubeletFlags.ts";

const base = { group: "rxlet", effective: true } as const;
const path = (name: string, about: string): FlagSpec => ({ ...base, name, type: "string", default: "", about });

/** The flags. */
export const ACCESS_FLAGS: readonly FlagSpec[] = [
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

/** What was given, and what of it is of no use with `server`. */
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
    faults.push("--client-key: is of no use without --client-certificate");
  }
  if (!server.startsWith("https:")) {
    const names = new Set(ACCESS_FLAGS.map(({ name }) => name));
    const useless = given.filter(({ spec }) => names.has(spec.name));
    faults.push(...useless.map(({ spec }) => `--${spec.name}: is of no use with ${server}, give an https --server`));
  }
  return { access, faults };
}
