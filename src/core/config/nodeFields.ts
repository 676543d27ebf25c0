/** Field table, part four: the node - registration and status, API client, host settings, shutdown, logging. */
import {
  type ConfigField,
  field,
  minutes,
  notNegative,
  notNegativeDuration,
  oneOf,
  range,
  seconds,
} from "./configField.ts";
import type { ConfigPath } from "./kubeletConfiguration.ts";

const JSON_ONLY = "requests to the API server are JSON, which V8 decodes about as fast as protobuf";

/** Rows of node, API client and logging. */
export const NODE_FIELDS = {
  registerNode: field("bool?", true, "Register this node with the API server", {
    flag: "register-node",
    effective: true,
  }),
  registerWithTaints: field("[]object", undefined, "Taints the node registers with", {
    flag: "register-with-taints",
    effective: true,
  }),
  "registerWithTaints[].key": field("string", undefined, "Taint key", { effective: true }),
  "registerWithTaints[].value": field("string", undefined, "Taint value", { effective: true }),
  "registerWithTaints[].effect": field("string", undefined, "NoSchedule, PreferNoSchedule or NoExecute", {
    effective: true,
  }),
  "registerWithTaints[].timeAdded": field("time?", undefined, "Set by the control plane; rejected here", {
    effective: true,
  }),
  providerID: field("string", undefined, "Identity of the machine at its provider", {
    flag: "provider-id",
    effective: true,
  }),
  nodeStatusUpdateFrequency: field("duration", seconds(10), "Period of computing the node's status", {
    flag: "node-status-update-frequency",
    effective: true,
  }),
  nodeStatusReportFrequency: field("duration", minutes(5), "Period of reporting an unchanged status", {
    effective: true,
  }),
  nodeLeaseDurationSeconds: field("int32", 40, "Seconds the node's lease lasts", { rule: range(1), effective: true }),
  nodeStatusMaxImages: field("int32?", 50, "Images listed in the node's status; -1 is all", {
    flag: "node-status-max-images",
    rule: range(-1),
    effective: true,
  }),
  contentType: field(
    "string",
    "application/vnd.kubernetes.protobuf",
    "Content type of requests to the API server: application/json",
    {
      flag: "kube-api-content-type",
      effective: ["application/json"],
      idle: JSON_ONLY,
    },
  ),
  kubeAPIQPS: field("int32?", 50, "Requests per second to the API server", {
    flag: "kube-api-qps",
    rule: notNegative,
    effective: true,
  }),
  kubeAPIBurst: field("int32", 100, "Requests to the API server that may be sent at once", {
    flag: "kube-api-burst",
    rule: notNegative,
    effective: true,
  }),
  runOnce: field("bool", undefined, "Run the pods once and exit; true is rejected, since upstream removed this mode", {
    flag: "runonce",
    effective: true,
  }),
  maxOpenFiles: field("int64", 1_000_000, "Files this process may have open", {
    flag: "max-open-files",
    effective: true,
    rule: notNegative,
  }),
  oomScoreAdj: field("int32?", -999, "Score of this process for the kernel's OOM killer", {
    flag: "oom-score-adj",
    effective: true,
    rule: range(-1000, 1000),
  }),
  protectKernelDefaults: field("bool", undefined, "Fail when kernel settings differ from the expected values", {
    flag: "protect-kernel-defaults",
    effective: true,
  }),
  makeIPTablesUtilChains: field("bool?", true, "Keep the kubelet's iptables chains in place", {
    flag: "make-iptables-util-chains",
    effective: true,
  }),
  iptablesMasqueradeBit: field("int32?", 14, "Bit of KUBE-MARK-MASQ; the chain exists when a file sets the field", {
    rule: range(0, 31),
    effective: true,
  }),
  iptablesDropBit: field("int32?", 15, "Bit of KUBE-MARK-DROP; the chain exists when a file sets the field", {
    rule: range(0, 31),
    effective: true,
  }),
  shutdownGracePeriod: field("duration", undefined, "Time pods get at node shutdown; 0 turns this off", {
    rule: { kind: "zeroOrDuration", minMs: seconds(1) },
    effective: true,
  }),
  shutdownGracePeriodCriticalPods: field(
    "duration",
    undefined,
    "Part of shutdownGracePeriod reserved for critical pods",
    {
      rule: { kind: "zeroOrDuration", minMs: seconds(1) },
      effective: true,
    },
  ),
  shutdownGracePeriodByPodPriority: field("[]object", undefined, "Time at node shutdown by pod priority", {
    effective: true,
  }),
  "shutdownGracePeriodByPodPriority[].priority": field("int32", undefined, "Lowest priority this entry is for", {
    effective: true,
  }),
  "shutdownGracePeriodByPodPriority[].shutdownGracePeriodSeconds": field(
    "int64",
    undefined,
    "Grace period of these pods in seconds",
    { effective: true },
  ),
  featureGates: field("map[string]bool", undefined, "Features turned on or off", {
    flag: "feature-gates",
    effective: true,
  }),
  showHiddenMetricsForVersion: field("string", undefined, "Show hidden metrics: empty, or the previous version, 1.35", {
    effective: true,
  }),
  logging: field("object", undefined, "Format and verbosity of the log"),
  "logging.format": field("string", "text", "text or json", {
    flag: "logging-format",
    rule: oneOf("text", "json"),
    effective: true,
  }),
  "logging.flushFrequency": field("duration", seconds(5), "Longest time between log flushes", {
    flag: "log-flush-frequency",
    effective: true,
    rule: notNegativeDuration,
  }),
  "logging.verbosity": field("uint32", undefined, "Log verbosity, 0 to 10; higher logs more", {
    flag: "v",
    rule: range(0, 2 ** 31 - 1),
    effective: true,
  }),
  "logging.vmodule": field("[]object", undefined, "Log levels per source file (text format only)", {
    flag: "vmodule",
    effective: true,
  }),
  "logging.vmodule[].filePattern": field("string", undefined, "Source files this level is for", { effective: true }),
  "logging.vmodule[].verbosity": field("uint32", undefined, "Log level of these files", {
    effective: true,
    rule: range(0, 2 ** 31 - 1),
  }),
  "logging.options": field("object", undefined, "Options per log format (alpha)"),
  "logging.options.text": field("object", undefined, "Options of the text format"),
  "logging.options.text.splitStream": field("bool", undefined, "Errors to stderr, the rest to stdout", {
    flag: "log-text-split-stream",
    effective: true,
  }),
  "logging.options.text.infoBufferSize": field("quantity", "0", "Bytes of buffer when streams are split", {
    flag: "log-text-info-buffer-size",
    effective: true,
  }),
  "logging.options.json": field("object", undefined, "Options of the JSON format"),
  "logging.options.json.splitStream": field("bool", undefined, "Errors to stderr, the rest to stdout", {
    flag: "log-json-split-stream",
    effective: true,
  }),
  "logging.options.json.infoBufferSize": field("quantity", "0", "Bytes of buffer when streams are split", {
    flag: "log-json-info-buffer-size",
    effective: true,
  }),
  tracing: field("object?", undefined, "OpenTelemetry tracing"),
  "tracing.endpoint": field("string?", undefined, "Collector of spans over gRPC, by default localhost:4317", {
    effective: true,
  }),
  "tracing.samplingRatePerMillion": field("int32?", undefined, "Traces exported per million, by default 0", {
    effective: true,
  }),
} as const satisfies Partial<Record<ConfigPath, ConfigField>>;
