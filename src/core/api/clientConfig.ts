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
