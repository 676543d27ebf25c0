/** Commands that the kubelet's own server may send to the kubelet for an authenticated client. */
export interface KubeletCommands {
  /** Resets the backoffs of a pod. Returns false when there is no such pod. */
  retry(namespace: string, name: string): boolean;
}
