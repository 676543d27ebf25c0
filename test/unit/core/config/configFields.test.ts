import { describe, expect, it } from "vitest";
import { configAt } from "../../../../src/core/config/configAtPath.ts";
import { CONFIG_FIELDS, CONFIG_PATHS } from "../../../../src/core/config/configFields.ts";
import { defaultConfiguration, withDefaultEviction } from "../../../../src/core/config/defaultConfiguration.ts";
import { formatDuration } from "../../../../src/core/config/duration.ts";
import type { ConfigPath } from "../../../../src/core/config/kubeletConfiguration.ts";
import { validateConfiguration } from "../../../../src/core/config/validateConfiguration.ts";
import { rowsOf, UPSTREAM_FIELDS } from "./upstreamFacts.ts";

const gates = (name: string): boolean =>
  ["KubeletCrashLoopBackOffMax", "KubeletEnsureSecretPulledImages", "GracefulNodeShutdown"].includes(name);
const DEFAULTS = defaultConfiguration(withDefaultEviction({}), gates);

/** The default as the reference prints it: JSON of the wire value; unset lists, maps and pointers as `(unset)`. */
function printedDefault(path: ConfigPath): string {
  const value = configAt(DEFAULTS, path);
  const { type } = CONFIG_FIELDS[path];
  if (value === undefined) return "(unset)";
  if (type === "duration") return JSON.stringify(formatDuration(Number(value)));
  const isEmpty = typeof value === "object" && Object.keys(Object(value)).length === 0;
  return isEmpty ? "(unset)" : JSON.stringify(value);
}

describe("the field table", () => {
  const facts = rowsOf(UPSTREAM_FIELDS);

  it("has exactly upstream's fields", () => {
    expect(CONFIG_PATHS.toSorted()).toEqual(facts.map(([path]) => path).toSorted());
  });

  it.each(facts.map(([path = "", type = ""]) => [path, type]))("gives %s upstream's type %s", (path, type) => {
    const field = CONFIG_FIELDS[path as ConfigPath];
    expect(`${field.type}${field.pointer ? "?" : ""}`).toBe(type);
  });

  const withDefault = facts.filter(([path = "", type = "", value = ""]) => {
    return value !== "" && !path.includes("[]") && !type.startsWith("object");
  });
  it.each(withDefault.map(([path = "", , value = ""]) => [path, value]))("defaults %s to %s", (path, value) => {
    expect(printedDefault(path as ConfigPath)).toBe(value);
  });

  it("describes every field in one line", () => {
    expect(CONFIG_PATHS.filter((path) => !/^\S.{2,100}$/.test(CONFIG_FIELDS[path].about))).toEqual([]);
  });

  it("has defaults that satisfy their own rules", () => {
    expect(validateConfiguration(DEFAULTS, gates)).toEqual([]);
  });

  it("names each flag once", () => {
    const flags = CONFIG_PATHS.map((path) => CONFIG_FIELDS[path].flag).filter((flag) => flag !== undefined);
    expect(new Set(flags).size).toBe(flags.length);
  });

  it("marks implemented fields as effective", () => {
    const effective = CONFIG_PATHS.filter((path) => CONFIG_FIELDS[path].effective !== false).toSorted();
    expect(effective).toEqual(
      `address allowedUnsafeSysctls cgroupDriver cgroupRoot cgroupsPerQOS clusterDNS clusterDomain
       configMapAndSecretChangeDetectionStrategy
       containerLogMaxFiles containerLogMaxSize containerLogMaxWorkers containerLogMonitorInterval
       cpuManagerPolicy cpuManagerPolicyOptions cpuManagerReconcilePeriod reservedSystemCPUs memoryManagerPolicy reservedMemory reservedMemory[].limits reservedMemory[].numaNode topologyManagerPolicy
       tracing.endpoint tracing.samplingRatePerMillion topologyManagerPolicyOptions topologyManagerScope containerRuntimeEndpoint cpuCFSQuota cpuCFSQuotaPeriod crashLoopBackOff.maxContainerRestartPeriod
       enforceNodeAllocatable eventBurst eventRecordQPS evictionHard evictionMaxPodGracePeriod evictionMinimumReclaim evictionPressureTransitionPeriod evictionSoft
      enableControllerAttachDetach evictionSoftGracePeriod failCgroupV1 failSwapOn featureGates fileCheckFrequency
       healthzBindAddress healthzPort httpCheckFrequency imageGCHighThresholdPercent imageGCLowThresholdPercent imageMaximumGCAge imageMinimumGCAge imagePullCredentialsVerificationPolicy imageServiceEndpoint kernelMemcgNotification kubeAPIBurst kubeAPIQPS kubeReserved kubeReservedCgroup logging.flushFrequency logging.format
       logging.options.json.infoBufferSize logging.options.json.splitStream logging.options.text.infoBufferSize logging.options.text.splitStream
       logging.verbosity logging.vmodule logging.vmodule[].filePattern logging.vmodule[].verbosity contentType runOnce
       registerWithTaints[].timeAdded showHiddenMetricsForVersion maxParallelImagePulls maxPods
       memoryReservationPolicy memorySwap.swapBehavior memoryThrottlingFactor mergeDefaultEvictionSettings nodeLeaseDurationSeconds
       nodeStatusMaxImages nodeStatusReportFrequency nodeStatusUpdateFrequency podCIDR podLogsDir podPidsLimit
       podsPerCore preloadedImagesVerificationAllowlist protectKernelDefaults makeIPTablesUtilChains iptablesMasqueradeBit iptablesDropBit kubeletCgroups systemCgroups oomScoreAdj maxOpenFiles providerID qosReserved readOnlyPort registerNode registerWithTaints registerWithTaints[].effect
       registerWithTaints[].key registerWithTaints[].value registryBurst registryPullQPS resolvConf
       rotateCertificates runtimeRequestTimeout seccompDefault serializeImagePulls serverTLSBootstrap shutdownGracePeriod shutdownGracePeriodByPodPriority
       shutdownGracePeriodByPodPriority[].priority shutdownGracePeriodByPodPriority[].shutdownGracePeriodSeconds shutdownGracePeriodCriticalPods singleProcessOOMKill staticPodPath staticPodURL staticPodURLHeader
       localStorageCapacityIsolation syncFrequency systemReserved systemReservedCgroup userNamespaces.idsPerPod volumePluginDir volumeStatsAggPeriod
       enableDebugFlagsHandler enableProfilingHandler enableSystemLogHandler enableSystemLogQuery
       authentication.anonymous.enabled authentication.webhook.cacheTTL authentication.webhook.enabled
       authentication.x509.clientCAFile authorization.mode authorization.webhook.cacheAuthorizedTTL
       authorization.webhook.cacheUnauthorizedTTL enableDebuggingHandlers enableServer port
       streamingConnectionIdleTimeout tlsCertFile tlsCipherSuites tlsCurvePreferences tlsMinVersion tlsPrivateKeyFile`
        .split(/\s+/)
        .toSorted(),
    );
  });
});
