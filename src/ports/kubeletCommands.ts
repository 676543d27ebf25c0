/** What the authenticated server may ask the kubelet to do beside what the API server asks. */
export interface KubeletCommands {
  /** Resets the backoffs of a pod; false when there is no such pod. */
  retry(namespace: string, name: string): boolean;
}
