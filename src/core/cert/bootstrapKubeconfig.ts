/**
 * The kubeconfig of a node that has received its certificate: the server of the bootstrap kubeconfig, and the path of
 * the certificate file. Upstream: writeKubeconfigFromBootstrapping in pkg/kubelet/certificate/bootstrap.
 */
import type { ClientConfig } from "../api/clientConfig.ts";
import { encodeBase64 } from "../base64.ts";

/** A JSON string is a valid YAML string. */
const quoted = (text: string): string => JSON.stringify(text);

/** Returns the file's content. `pair`: path of the file with certificate and key. */
export function bootstrapKubeconfig({ endpoint, authority }: ClientConfig, pair: string): string {
  const cluster = [
    ...(authority === undefined
      ? []
      : [
          "file" in authority
            ? `certificate-authority: ${quoted(authority.file)}`
            : `certificate-authority-data: ${encodeBase64(new TextEncoder().encode(authority.text))}`,
        ]),
    ...(endpoint.insecureSkipTlsVerify ? ["insecure-skip-tls-verify: true"] : []),
    // Upstream drops these two fields, so that the node could no longer reach its server.
    ...(endpoint.tlsServerName === undefined ? [] : [`tls-server-name: ${quoted(endpoint.tlsServerName)}`]),
    ...(endpoint.proxyUrl === undefined ? [] : [`proxy-url: ${quoted(endpoint.proxyUrl)}`]),
    `server: ${quoted(endpoint.server)}`,
  ];
  return [
    "apiVersion: v1",
    "kind: Config",
    "clusters:",
    "- name: default-cluster",
    "  cluster:",
    ...cluster.map((line) => `    ${line}`),
    "contexts:",
    "- name: default-context",
    "  context:",
    "    cluster: default-cluster",
    "    namespace: default",
    "    user: default-auth",
    "current-context: default-context",
    "preferences: {}",
    "users:",
    "- name: default-auth",
    "  user:",
    `    client-certificate: ${quoted(pair)}`,
    `    client-key: ${quoted(pair)}`,
    "",
  ].join("\n");
}
