/** Address and credentials of an API server: the content of a kubeconfig, resolved. */

/** A client certificate, possibly with its chain, and its private key, as PEM. */
export interface TlsIdentity {
  readonly certificate: string;
  readonly key: string;
}

/** Address of the server and how to verify its identity. */
export interface ApiEndpoint {
  /** Base URL: `https://10.0.0.1:6443`, optionally with a path prefix. */
  readonly server: string;
  /** CA certificates that sign the server's certificate, as PEM; undefined: the system's trust store. */
  readonly certificateAuthority: string | undefined;
  /** Server name for SNI and for verifying the certificate; undefined: the host of the URL. */
  readonly tlsServerName: string | undefined;
  /** Accepts any certificate. */
  readonly insecureSkipTlsVerify: boolean;
  /** URL of the proxy: http, https or socks5. */
  readonly proxyUrl: string | undefined;
}

/** A text, or a file that contains it and may be replaced. */
export type TextSource = { readonly text: string } | { readonly file: string };

/** Files of a client certificate and its key. */
export interface CertificateSource {
  readonly certificate: TextSource;
  readonly key: TextSource;
}

/** A program that supplies credentials: `exec` of a kubeconfig. */
export interface ExecPlugin {
  readonly apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  /** A program in PATH, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Shown when the program is missing: how to install it. */
  readonly installHint: string;
  /** Cluster information passed to the program; undefined: none is passed. */
  readonly cluster: Readonly<Record<string, unknown>> | undefined;
}

/** How requests authenticate, besides a client certificate. */
export type ApiProof =
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: string }
  /** A file that is reread while in use, since rotation replaces it. */
  | { readonly kind: "tokenFile"; readonly file: string }
  | { readonly kind: "basic"; readonly username: string; readonly password: string }
  | { readonly kind: "exec"; readonly plugin: ExecPlugin };

/** Settings of a client. */
export interface ClientConfig {
  readonly endpoint: ApiEndpoint;
  /** Source of the endpoint's certificate authority, for writing a kubeconfig. */
  readonly authority: TextSource | undefined;
  /** Source of the client certificate, for following its rotation. */
  readonly certificate: CertificateSource | undefined;
  /** The client certificate when the configuration was read. */
  readonly identity: TlsIdentity | undefined;
  readonly proof: ApiProof;
}
