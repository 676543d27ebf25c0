/** Which version this is, to its own users and to a cluster. */
import { createRequire } from "node:module";

const manifest: unknown = createRequire(import.meta.url)("../../package.json");

/** Of this package. */
export const VERSION = (manifest as { readonly version: string }).version;

/** Of Kubernetes, which control planes and kubeadm compare with their own; this package's is its build metadata. */
export const KUBERNETES_VERSION = `1.36.2+rxlet-${VERSION}`;
