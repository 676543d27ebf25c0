/** How to reach an API server and prove who we are: what a kubeconfig comes down to. */

/** A client certificate with its private key, as PEM; the certificate may bring its chain. */
export interface TlsIdentity {
  readonly certificate: string;
  readonly key: string;
}

/** Where the server is and why to trust it. */
export interface ApiEndpoint {
  /** Base URL: `https://10.0.0.1:6443`, perhaps with a path all others begin with. */
  readonly server: string;
  /** What signs the server's certificate, as PEM; undefined: what the system trusts. */
  readonly certificateAuthority: string | undefined;
  /** The name to check the certificate for, and to ask for; undefined: the host of the URL. */
  readonly tlsServerName: string | undefined;
  /** Takes any certificate. */
  readonly insecureSkipTlsVerify: boolean;
  /** URL of the proxy in between: http, https or socks5. */
  readonly proxyUrl: string | undefined;
}

/** Text that is known, or a file that has it and may be replaced. */
export type TextSource = { readonly text: string } | { readonly file: string };

/** A client certificate and its key, wherever they are. */
export interface CertificateSource {
  readonly certificate: TextSource;
  readonly key: TextSource;
}

/** A program that gives credentials: `exec` of a kubeconfig. */
export interface ExecPlugin {
  readonly apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  /** A program of PATH, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** How to get the program, for whoever misses it. */
  readonly installHint: string;
  /** The cluster as the program is told of it; undefined: it is not told. */
  readonly cluster: Readonly<Record<string, unknown>> | undefined;
}

/** How requests prove who sends them, beside a certificate. */
export type ApiProof =
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: string }
  /** Read again while it is used; whoever rotates it replaces the file. */
  | { readonly kind: "tokenFile"; readonly file: string }
  | { readonly kind: "basic"; readonly username: string; readonly password: string }
  | { readonly kind: "exec"; readonly plugin: ExecPlugin };

/** Everything a client needs. */
export interface ClientConfig {
  readonly endpoint: ApiEndpoint;
  /** Where the endpoint's authority is from, for whoever writes a kubeconfig. */
  readonly authority: TextSource | undefined;
  /** Where the client certificate is, for whoever follows its rotation. */
  readonly certificate: CertificateSource | undefined;
  /** As it was when the configuration was read. */
  readonly identity: TlsIdentity | undefined;
  readonly proof: ApiProof;
}
