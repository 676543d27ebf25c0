/** Settings of flags that KubeletConfiguration lacks. Names are the flags in camel case; durations are milliseconds. */

import type { ContainerRuntime, DockerOptions } from "./dockerFlags.ts";

/** Values of the flags that set no configuration field. Empty texts mean unset. */
export interface KubeletFlags extends DockerOptions {
  readonly config: string;
  readonly configDir: string;
  readonly rootDir: string;
  readonly certDir: string;
  readonly kubeconfig: string;
  readonly bootstrapKubeconfig: string;
  readonly lockFile: string;
  readonly exitOnLockContention: boolean;
  readonly hostnameOverride: string;
  readonly nodeIp: string;
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly cloudProvider: string;
  readonly imageCredentialProviderConfig: string;
  readonly imageCredentialProviderBinDir: string;
  readonly runtimeCgroups: string;
  readonly housekeepingInterval: number;
  readonly maxHousekeepingInterval: number;
  readonly maximumDeadContainers: number;
  readonly maximumDeadContainersPerContainer: number;
  readonly minimumContainerTtlDuration: number;
  readonly experimentalAllocatableIgnoreEviction: boolean;
  readonly experimentalMounterPath: string;
  readonly applicationMetricsCountLimit: number;
  readonly bootIdFile: string;
  readonly containerHints: string;
  readonly containerd: string;
  readonly containerdNamespace: string;
  readonly enableLoadReader: boolean;
  readonly eventStorageAgeLimit: string;
  readonly eventStorageEventLimit: string;
  readonly globalHousekeepingInterval: number;
  readonly logCadvisorUsage: boolean;
  readonly machineIdFile: string;
  readonly storageDriverBufferDuration: number;
  readonly storageDriverDb: string;
  readonly storageDriverHost: string;
  readonly storageDriverPassword: string;
  readonly storageDriverSecure: boolean;
  readonly storageDriverTable: string;
  readonly storageDriverUser: string;
  readonly version: boolean;
  /** Path of the socket of the local commands, or `off`; empty is the default. */
  readonly localSocket: string;
  /** Group that may use it; empty is none. */
  readonly localSocketGroup: string;
  readonly liveView: boolean;
  /** IP address of the read-only server; empty is the configuration's `address`. */
  readonly readOnlyBindAddress: string;
  /** Authorizes exec, attach and port-forward by GET with the verb `get`, as upstream, instead of `create`. */
  readonly allowStreamsByGet: boolean;
  /** Directory of the kernel tunables. */
  readonly procSysDir: string;
  /** Kind of the metadata service to ask: `ec2`, `openstack`. */
  readonly cloudMetadata: string;
  /** URL of that service; empty is its usual address. */
  readonly cloudMetadataUrl: string;
  /** Offers GPUs without a device plugin. */
  readonly gpuManager: boolean;
  /** Keeps what API pods need on disk, for a boot without the API server. */
  readonly offlineBoot: boolean;
  /** Time that the API server has to answer at the start, in milliseconds. */
  readonly offlineBootWait: number;
  /** Directory that has dev, proc and sys of the machine. */
  readonly gpuManagerRoot: string;
  readonly containerRuntime: ContainerRuntime;
}
