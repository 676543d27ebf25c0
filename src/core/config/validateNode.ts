/**
 * Validates fields against each other: taints, shutdown, serving certificates, hidden metrics, tracing, removed
 * features.
 */
import type { ConfigProblem } from "./configProblem.ts";
import type { GateEnabled } from "./defaultConfiguration.ts";
import { formatDuration } from "./duration.ts";
import type { KubeletConfiguration, Taint } from "./kubeletConfiguration.ts";
import { isTaintEffect, labelKeyFault, labelValueFault, TAINT_EFFECTS } from "./nodeNames.ts";

/** The only version whose hidden metrics can be shown: the minor release before the one this kubelet implements. */
const PREVIOUS_MINOR = "1.35";

/** Returns the problems of the node's own settings. */
export function validateNode(config: KubeletConfiguration, isOn: GateEnabled): readonly ConfigProblem[] {
  return [
    ...config.registerWithTaints.flatMap((taint, index) => taintFaults(taint, index)),
    ...shutdown(config, isOn),
    ...switches(config, isOn),
    ...tracing(config),
  ];
}

function taintFaults(taint: Taint, index: number): readonly ConfigProblem[] {
  const path = ["registerWithTaints", index];
  const problems: ConfigProblem[] = [];
  const keyFault = labelKeyFault(taint.key);
  if (keyFault !== undefined) problems.push({ path: [...path, "key"], reason: keyFault });
  const valueFault = labelValueFault(taint.value);
  if (valueFault !== undefined) problems.push({ path: [...path, "value"], reason: valueFault });
  if (!isTaintEffect(taint.effect)) {
    const reason = `must be one of ${TAINT_EFFECTS.join(", ")}, got ${JSON.stringify(taint.effect)}`;
    problems.push({ path: [...path, "effect"], reason });
  }
  if (taint.timeAdded !== undefined) problems.push({ path: [...path, "timeAdded"], reason: "must not be set" });
  return problems;
}

function shutdown(config: KubeletConfiguration, isOn: GateEnabled): readonly ConfigProblem[] {
  const { shutdownGracePeriod: whole, shutdownGracePeriodCriticalPods: critical } = config;
  const byPriority = config.shutdownGracePeriodByPodPriority.length > 0;
  const problems: ConfigProblem[] = [];
  if (!isOn("GracefulNodeShutdown")) {
    const reason = "needs the feature gate GracefulNodeShutdown";
    if (whole > 0) problems.push({ path: ["shutdownGracePeriod"], reason });
    if (critical > 0) problems.push({ path: ["shutdownGracePeriodCriticalPods"], reason });
  } else if (critical > whole) {
    const reason = `must not be above shutdownGracePeriod, which is ${formatDuration(whole)}, got ${formatDuration(critical)}`;
    problems.push({ path: ["shutdownGracePeriodCriticalPods"], reason });
  }
  if (byPriority && !isOn("GracefulNodeShutdownBasedOnPodPriority")) {
    const reason = "needs the feature gate GracefulNodeShutdownBasedOnPodPriority";
    problems.push({ path: ["shutdownGracePeriodByPodPriority"], reason });
  } else if (byPriority && (whole > 0 || critical > 0)) {
    const reason = "cannot be used together with shutdownGracePeriod";
    problems.push({ path: ["shutdownGracePeriodByPodPriority"], reason });
  }
  return problems;
}

function switches(config: KubeletConfiguration, isOn: GateEnabled): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (config.serverTLSBootstrap && !isOn("RotateKubeletServerCertificate")) {
    const reason = "needs the feature gate RotateKubeletServerCertificate";
    problems.push({ path: ["serverTLSBootstrap"], reason });
  }
  if (config.runOnce)
    problems.push({ path: ["runOnce"], reason: "must not be true: this mode is no longer supported" });
  if (config.enableSystemLogQuery === true && !config.enableSystemLogHandler) {
    problems.push({ path: ["enableSystemLogQuery"], reason: "needs enableSystemLogHandler to be true" });
  }
  const shown = config.showHiddenMetricsForVersion;
  if (shown !== "" && shown !== PREVIOUS_MINOR) {
    const reason =
      `must be omitted or have the value '${PREVIOUS_MINOR}', got ${JSON.stringify(shown)}. ` +
      "Only the previous minor version is allowed";
    problems.push({ path: ["showHiddenMetricsForVersion"], reason });
  }
  return problems;
}

/** The reasons are upstream's, of ValidateTracingConfiguration. */
function tracing({ tracing: given }: KubeletConfiguration): readonly ConfigProblem[] {
  const { endpoint, samplingRatePerMillion: rate = 0 } = given ?? {};
  const problems: ConfigProblem[] = [];
  const rateFault = rate < 0 ? "sampling rate must be positive" : rate > MILLION ? MAX_RATE_FAULT : undefined;
  if (rateFault !== undefined) {
    problems.push({ path: ["tracing", "samplingRatePerMillion"], reason: `${rateFault}, got ${rate}` });
  }
  if (endpoint === undefined || !endpoint.includes("//")) return problems;
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(endpoint)?.[1] ?? "";
  if (["dns", "unix", "unix-abstract"].includes(scheme)) return problems;
  const reason = `unsupported scheme: ${scheme}. Options are none, dns, unix, or unix-abstract, got ${JSON.stringify(endpoint)}`;
  return [...problems, { path: ["tracing", "endpoint"], reason }];
}

const MILLION = 1_000_000;
const MAX_RATE_FAULT = "sampling rate per million must be less than or equal to one million";
