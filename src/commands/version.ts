/** The version, for users of rxlet and for a cluster. */
import { createRequire } from "node:module";

const manifest: unknown = createRequire(import.meta.url)("../../package.json");

/** Version of this package. */
const VERSION = (manifest as { readonly version: string }).version;

/**
 * Kubernetes version, which control planes and kubeadm compare with their own; its build metadata is the package
 * version.
 */
export const KUBERNETES_VERSION = `1.36.2+rxlet-${VERSION}`;
