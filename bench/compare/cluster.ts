/** An administrator's access to the cluster of a bench. */
import { KubeConfig } from "@kubernetes/client-node";

/** Namespace of all pods and claims that benches make. */
export const NAMESPACE = "rxlet-bench";
const CONFLICT = 409;

/** Reads a kubeconfig file. */
export function loadCluster(kubeconfig: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  return config;
}

/** Handles the failure of a create request: an object that exists already is as good. */
export function unlessThere(thrown: { readonly code?: number }): void {
  if (thrown.code !== CONFLICT) throw thrown;
}
