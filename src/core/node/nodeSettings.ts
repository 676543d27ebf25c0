/** Settings of the Node object from flags and configuration. */
import type { Labels, Taint } from "../admission/nodeSelection.ts";

export interface NodeSettings {
  /** `registerNode`: whether the kubelet creates its Node; otherwise the user creates it. */
  readonly register: boolean;
  /** `--node-labels`: override the labels that the kubelet sets. */
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  /** Empty when unknown. */
  readonly providerId: string;
  /** `--cloud-provider=external`: a cloud controller completes the Node and then removes a taint. */
  readonly hasExternalCloud: boolean;
  /** `--cloud-metadata`: the metadata service of the cloud describes the instance of this node. Default: none is asked. */
  readonly hasCloudMetadata?: boolean;
  /** `--hostname-override`, or the host name. */
  readonly hostname: string;
  /** The name is that of `--hostname-override`. Default: it is the host name. */
  readonly isHostnameOverridden?: boolean;
  /** `--node-ip`: none, one, or one per family; `0.0.0.0` and `::` mean any address, preferring that family. */
  readonly ips: readonly string[];
  readonly attachDetachByController: boolean;
  /** `localStorageCapacityIsolation`: the node has ephemeral storage that pods can request. */
  readonly hasEphemeralStorage: boolean;
  /** `v` and a semantic version. */
  readonly kubeletVersion: string;
  /** Port of the kubelet's HTTPS server. */
  readonly port: number;
  /** Declared features of this node, sorted; undefined: none are declared. */
  readonly declaredFeatures: readonly string[] | undefined;
  /** Maximum number of images in the status; -1 means all. */
  readonly maxImages: number;
  /** Interval of computing the status, and maximum interval of reporting it. */
  readonly statusUpdatePeriodMs: number;
  readonly statusReportPeriodMs: number;
  readonly leaseDurationSeconds: number;
}
