/** A session on the local socket of a node. */
export interface LocalSession {
  readonly socket: string;
  readonly token: string;
}

/** Credentials and trusted CA of a command's requests to a kubelet's server: paths of files, empty when absent. */
export interface KubeletAccess {
  readonly certificateAuthority: string;
  /** Accepts any server certificate. */
  readonly insecure: boolean;
  readonly clientCertificate: string;
  /** Empty: the key is in the certificate's file. */
  readonly clientKey: string;
  readonly tokenFile: string;
  /** Absent: the server is at the address of its URL. */
  readonly local?: LocalSession;
}
