/** Validates fields against each other: image pulls, log directory, crash-loop backoff, image garbage collection. */
import { parseImageRef } from "../image/imageRef.ts";
import { sysctlPatternFault } from "../pod/sysctls.ts";
import { CONFIG_FIELDS } from "./configFields.ts";
import type { ConfigProblem } from "./configProblem.ts";
import type { GateEnabled } from "./defaultConfiguration.ts";
import { formatDuration } from "./duration.ts";
import type { KubeletConfiguration } from "./kubeletConfiguration.ts";

const VERIFICATION_POLICIES = [
  "NeverVerify",
  "NeverVerifyPreloadedImages",
  "NeverVerifyAllowlistedImages",
  "AlwaysVerify",
];

/** Returns the problems of pod settings. */
export function validatePods(config: KubeletConfiguration, isOn: GateEnabled): readonly ConfigProblem[] {
  return [
    ...imagePulls(config),
    ...imageVerification(config, isOn),
    ...imageCollection(config),
    ...podLogs(config.podLogsDir),
    ...crashLoop(config, isOn),
    ...quotaPeriod(config, isOn),
    ...unsafeSysctls(config.allowedUnsafeSysctls),
    ...(config.containerRuntimeEndpoint === ""
      ? [{ path: ["containerRuntimeEndpoint"], reason: "must not be empty" }]
      : []),
  ];
}

function imagePulls(config: KubeletConfiguration): readonly ConfigProblem[] {
  if (!config.serializeImagePulls || (config.maxParallelImagePulls ?? 0) <= 1) return [];
  const reason = `must not be above 1 while serializeImagePulls is true, got ${config.maxParallelImagePulls}`;
  return [{ path: ["maxParallelImagePulls"], reason }];
}

function imageVerification(config: KubeletConfiguration, isOn: GateEnabled): readonly ConfigProblem[] {
  const policy = config.imagePullCredentialsVerificationPolicy;
  const list = config.preloadedImagesVerificationAllowlist;
  const policyPath = ["imagePullCredentialsVerificationPolicy"];
  const listPath = ["preloadedImagesVerificationAllowlist"];
  if (!isOn("KubeletEnsureSecretPulledImages")) {
    const reason = "must not be set while the feature gate KubeletEnsureSecretPulledImages is off";
    return [
      ...(policy === "" ? [] : [{ path: policyPath, reason }]),
      ...(list.length === 0 ? [] : [{ path: listPath, reason }]),
    ];
  }
  const problems: ConfigProblem[] = [];
  if (!VERIFICATION_POLICIES.includes(policy)) {
    const reason = `must be one of ${VERIFICATION_POLICIES.join(", ")}, got ${JSON.stringify(policy)}`;
    problems.push({ path: policyPath, reason });
  }
  if (list.length > 0 && policy !== "NeverVerifyAllowlistedImages") {
    const reason = "needs imagePullCredentialsVerificationPolicy to be NeverVerifyAllowlistedImages";
    return [...problems, { path: listPath, reason }];
  }
  for (const [index, pattern] of list.entries()) {
    const reason = imagePatternFault(pattern);
    if (reason !== undefined) problems.push({ path: [...listPath, index], reason });
  }
  return problems;
}

function imagePatternFault(pattern: string): string | undefined {
  if (pattern === "" || pattern.trim() !== pattern) return "must be an image name without spaces around it";
  const name = pattern.endsWith("/*") ? pattern.slice(0, -2) : pattern;
  if (name.includes("*")) return `may have * only as its last part, got ${JSON.stringify(pattern)}`;
  if (name !== pattern) return name === "" ? `must name a registry, got ${JSON.stringify(pattern)}` : undefined;
  const ref = parseImageRef(name);
  return ref.ok && ref.value.repository === name
    ? undefined
    : `must be a whole image name with its registry, without tag or digest, got ${JSON.stringify(pattern)}`;
}

function imageCollection(config: KubeletConfiguration): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const { imageGCLowThresholdPercent: low, imageGCHighThresholdPercent: high } = config;
  if (low >= high) {
    const reason = `must be below imageGCHighThresholdPercent, which is ${high}, got ${low}`;
    problems.push({ path: ["imageGCLowThresholdPercent"], reason });
  }
  const { imageMinimumGCAge: youngest, imageMaximumGCAge: oldest } = config;
  if (oldest > 0 && oldest <= youngest) {
    const reason = `must be 0s or above imageMinimumGCAge, which is ${formatDuration(youngest)}, got ${formatDuration(oldest)}`;
    problems.push({ path: ["imageMaximumGCAge"], reason });
  }
  return problems;
}

function podLogs(directory: string): readonly ConfigProblem[] {
  const fault = (reason: string) => [{ path: ["podLogsDir"], reason: `${reason}, got ${JSON.stringify(directory)}` }];
  if (!directory.startsWith("/")) return fault("must be an absolute path");
  const isClean =
    directory === "/" ||
    directory
      .slice(1)
      .split("/")
      .every((part) => !["", ".", ".."].includes(part));
  if (!isClean) return fault("must be a path without empty, . and .. parts and without a final /");
  // The directory is part of metric labels.
  return [...directory].some((character) => character > "\u007f") ? fault("must be ASCII") : [];
}

function crashLoop(config: KubeletConfiguration, isOn: GateEnabled): readonly ConfigProblem[] {
  if (isOn("KubeletCrashLoopBackOffMax") || config.crashLoopBackOff.maxContainerRestartPeriod === undefined) return [];
  const reason = "must not be set while the feature gate KubeletCrashLoopBackOffMax is off";
  return [{ path: ["crashLoopBackOff", "maxContainerRestartPeriod"], reason }];
}

function quotaPeriod({ cpuCFSQuotaPeriod }: KubeletConfiguration, isOn: GateEnabled): readonly ConfigProblem[] {
  const usual = Number(CONFIG_FIELDS.cpuCFSQuotaPeriod.default);
  if (isOn("CustomCPUCFSQuotaPeriod") || cpuCFSQuotaPeriod === usual) return [];
  const reason = `must be ${formatDuration(usual)} while the feature gate CustomCPUCFSQuotaPeriod is off, got ${formatDuration(cpuCFSQuotaPeriod)}`;
  return [{ path: ["cpuCFSQuotaPeriod"], reason }];
}

function unsafeSysctls(patterns: readonly string[]): readonly ConfigProblem[] {
  return patterns.flatMap((pattern, index) => {
    const reason = sysctlPatternFault(pattern);
    return reason === undefined ? [] : [{ path: ["allowedUnsafeSysctls", index], reason }];
  });
}
