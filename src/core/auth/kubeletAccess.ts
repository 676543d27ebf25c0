/** As whom a command asks a kubelet's server, and what it trusts: paths of files, an empty one is not given. */
export interface KubeletAccess {
  readonly certificateAuthority: string;
  /** Takes any certificate of the server. */
  readonly insecure: boolean;
  readonly clientCertificate: string;
  /** Empty: the key is in the file of the certificate. */
  readonly clientKey: string;
  readonly tokenFile: string;
}
