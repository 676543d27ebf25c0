/** Credentials and trusted CA of a command's requests to a kubelet's server: paths of files, empty when absent. */
export interface KubeletAccess {
  readonly certificateAuthority: string;
  /** Accepts any server certificate. */
  readonly insecure: boolean;
  readonly clientCertificate: string;
  /** Empty: the key is in the certificate's file. */
  readonly clientKey: string;
  readonly tokenFile: string;
}
