/** What flags and configuration say of the node as an object of the API server. */
import type { Labels, Taint } from "../admission/nodeSelection.ts";

export interface NodeSettings {
  /** `registerNode`: whether the kubelet creates its Node; if not, somebody else does. */
  readonly register: boolean;
  /** `--node-labels`: win over what the kubelet would say itself. */
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  /** Empty when unknown. */
  readonly providerId: string;
  /** `--cloud-provider=external`: a cloud controller completes the Node, and removes a taint when it has. */
  readonly hasExternalCloud: boolean;
  /** `--hostname-override`, or the host name. */
  readonly hostname: string;
  /** `--node-ip`: none, one, or one per family; `0.0.0.0` and `::` stand for any address, of that family first. */
  readonly ips: readonly string[];
  readonly attachDetachByController: boolean;
  /** `localStorageCapacityIsolation`: the node has ephemeral storage that pods request. */
  readonly hasEphemeralStorage: boolean;
  /** `v` and a semantic version. */
  readonly kubeletVersion: string;
  /** The gate DisableNodeKubeProxyVersion is off: the Node says that its kube-proxy is of this version, too. */
  readonly tellsKubeProxyVersion: boolean;
  /** Of the kubelet's HTTPS server. */
  readonly port: number;
  /** Features of pods this node has that others may lack, sorted; undefined: nothing is declared. */
  readonly declaredFeatures: readonly string[] | undefined;
  /** Images told of at most; -1 is all. */
  readonly maxImages: number;
  /** How often the status is computed, and at least reported. */
  readonly statusUpdatePeriodMs: number;
  readonly statusReportPeriodMs: number;
  readonly leaseDurationSeconds: number;
}
