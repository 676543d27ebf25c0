/** Settings of the Node object from flags and KubeletConfiguration. */
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import type { NodeSettings } from "../core/node/nodeSettings.ts";

/** Feature gates of the pod features that the Node declares, sorted. */
const DECLARED_FEATURES: readonly string[] = [
  "ExtendWebSocketsToKubelet",
  "InPlacePodLevelResourcesVerticalScaling",
  "InPlacePodVerticalScalingInitContainers",
  "RestartAllContainersOnContainerExits",
];

/** Builds the settings; `version` without `v`. */
export function nodeSettingsOf(
  { flags, config, featureGates }: KubeletOptions,
  hostname: string,
  version: string,
): NodeSettings {
  const isOn = (gate: string): boolean => featureGates.get(gate) === true;
  return {
    register: config.registerNode,
    labels: flags.nodeLabels,
    taints: config.registerWithTaints.map(({ key, value, effect }) => ({
      key,
      effect,
      ...(value === "" ? {} : { value }),
    })),
    providerId: config.providerID,
    hasExternalCloud: flags.cloudProvider === "external",
    hasCloudMetadata: flags.cloudMetadata !== "",
    hostname,
    isHostnameOverridden: flags.hostnameOverride !== "",
    ips: flags.nodeIp === "" ? [] : flags.nodeIp.split(",").map((ip) => ip.trim()),
    attachDetachByController: config.enableControllerAttachDetach,
    hasEphemeralStorage: config.localStorageCapacityIsolation,
    kubeletVersion: `v${version}`,
    port: config.port,
    declaredFeatures: isOn("NodeDeclaredFeatures") ? DECLARED_FEATURES.filter(isOn) : undefined,
    maxImages: config.nodeStatusMaxImages,
    statusUpdatePeriodMs: config.nodeStatusUpdateFrequency,
    statusReportPeriodMs: config.nodeStatusReportFrequency,
    leaseDurationSeconds: config.nodeLeaseDurationSeconds,
  };
}
