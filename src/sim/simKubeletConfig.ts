/** The configuration of a simulated kubelet: the defaults of a real one in a cluster with a DNS service. */
import { resolveFeatureGates } from "../cli/featureGates.ts";
import { ownFlagValues } from "../cli/parseKubeletFlags.ts";
import type { KubeletFlags } from "../cli/kubeletFlags.ts";
import { OWN_FLAGS } from "../cli/ownFlags.ts";
import { kubeletConfigOf } from "../commands/kubeletConfigOf.ts";
import { defaultConfiguration, withDefaultEviction } from "../core/config/defaultConfiguration.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { Machine } from "../ports/host.ts";

/** Returns the defaults on this machine, with pods from manifests and the API, changed by `more`. */
export function simKubeletConfig(machine: Machine, more: Partial<KubeletConfig> = {}): KubeletConfig {
  // ownFlagValues sets every rxlet flag by its property name in KubeletFlags.
  const flags = ownFlagValues([], OWN_FLAGS) as unknown as KubeletFlags;
  const { gates } = resolveFeatureGates({});
  const config = defaultConfiguration(withDefaultEviction({}), (name) => gates.get(name) === true);
  const defaults = kubeletConfigOf(
    {
      flags,
      config,
      flagConfig: config,
      featureGates: gates,
      client: undefined,
      bootstrap: undefined,
      credentialPlugins: undefined,
      warnings: [],
    },
    machine,
    "0.0.0-sim",
  );
  const hostname = more.nodeName ?? defaults.nodeName;
  return {
    ...defaults,
    node: { ...defaults.node, hostname },
    sources: ["file", "api"],
    dockerFiles: { configJson: [`${defaults.directories.rootDir}/config.json`], dockercfg: [] },
    clusterDns: ["10.96.0.10"],
    clusterDomain: "cluster.local",
    // Nodes that give containers no hardware have no reason to write any.
    hardwareState: more.hardware === undefined ? undefined : defaults.hardwareState,
    ...more,
  };
}
