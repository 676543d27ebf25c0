/** Sets the metrics that never change while the process runs: version, machine, feature gates. */
import { FEATURE_GATES } from "../cli/gateTable.ts";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import type { Machine } from "../ports/host.ts";
import type { Metrics } from "../ports/telemetry.ts";

/** Sets the metrics once. */
export function setBuildMetrics(
  metrics: Metrics,
  { featureGates, credentialPlugins }: KubeletOptions,
  machine: Machine,
  version: string,
  nodeName: string,
): void {
  const [major = "", minor = ""] = version.split(".");
  metrics.gauge("kubelet_node_name", 1, { node: nodeName });
  metrics.gauge("kubelet_metrics_provider", 1, { provider: "cri" });
  if (machine.cgroupVersion !== undefined) metrics.gauge("kubelet_cgroup_version", machine.cgroupVersion);
  if (credentialPlugins !== undefined) {
    metrics.gauge("kubelet_credential_provider_config_info", 1, { hash: credentialPlugins.hash });
  }
  metrics.gauge("kubernetes_build_info", 1, {
    major,
    minor,
    git_version: `v${version}`,
    git_commit: "",
    git_tree_state: "",
    build_date: "",
    go_version: "",
    compiler: `node ${process.version}`,
    platform: `${machine.operatingSystem}/${machine.architecture}`,
  });
  for (const [name, enabled] of featureGates) {
    const stage = FEATURE_GATES.get(name)?.stage ?? "GA";
    metrics.gauge("kubernetes_feature_enabled", enabled ? 1 : 0, { name, stage: stage === "GA" ? "" : stage });
  }
}
