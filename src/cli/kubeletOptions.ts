/** Options of the daemon. */
import type { ClientConfig } from "../core/api/clientConfig.ts";
import type { KubeletConfiguration } from "../core/config/kubeletConfiguration.ts";
import type { CredentialProvider } from "../core/image/credentialProviderConfig.ts";
import type { MarkBits } from "../core/network/utilChains.ts";
import type { KubeletFlags } from "./kubeletFlags.ts";

/** The credential plugins of a node. */
export interface CredentialPluginOptions {
  /** Directory of their programs. */
  readonly directory: string;
  /** Hash of the files that configure them: `sha256:` and 64 hex digits. */
  readonly hash: string;
  readonly providers: readonly CredentialProvider[];
}

/** Flags, configuration and feature gates after every source was merged and checked. */
export interface KubeletOptions {
  readonly flags: KubeletFlags;
  readonly config: KubeletConfiguration;
  /** Configuration from flags alone, without a configuration file. */
  readonly flagConfig: KubeletConfiguration;
  /** Marks of packets that have chains in iptables. Absent: none. */
  readonly markBits?: MarkBits;
  /** Every known gate. */
  readonly featureGates: ReadonlyMap<string, boolean>;
  /** Client of the kubeconfig; undefined for a standalone node. */
  readonly client: ClientConfig | undefined;
  /**
   * Client of the bootstrap kubeconfig, which requests a certificate if `client` has none; undefined without the file.
   */
  readonly bootstrap: ClientConfig | undefined;
  /** Undefined without the flags that configure plugins. */
  readonly credentialPlugins: CredentialPluginOptions | undefined;
  /** Warnings to log once at start: deprecated flags, settings without effect yet, skipped drop-ins. */
  readonly warnings: readonly string[];
}
