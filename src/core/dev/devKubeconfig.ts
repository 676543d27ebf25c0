/** The kubeconfig that connects kubectl to a running `rxlet dev`. */
import type { TlsIdentity } from "../api/clientConfig.ts";
import { encodeBase64 } from "../base64.ts";

const data = (pem: string): string => encodeBase64(new TextEncoder().encode(pem));

/** Returns the file's content: one cluster, user and context, all of the same name. */
export const devKubeconfig = (server: string, authority: string, client: TlsIdentity): string =>
  [
    "apiVersion: v1",
    "kind: Config",
    "clusters:",
    "- name: rxlet-dev",
    "  cluster:",
    `    server: ${server}`,
    `    certificate-authority-data: ${data(authority)}`,
    "users:",
    "- name: rxlet-dev",
    "  user:",
    `    client-certificate-data: ${data(client.certificate)}`,
    `    client-key-data: ${data(client.key)}`,
    "contexts:",
    "- name: rxlet-dev",
    "  context:",
    "    cluster: rxlet-dev",
    "    user: rxlet-dev",
    "    namespace: default",
    "current-context: rxlet-dev",
    "",
  ].join("\n");
