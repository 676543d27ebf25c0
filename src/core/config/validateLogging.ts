/** Validates the logging section. Upstream: component-base logs. */
import type { ConfigProblem } from "./configProblem.ts";
import type { GateEnabled } from "./defaultConfiguration.ts";
import type { LoggingConfiguration } from "./kubeletConfiguration.ts";
import { parseQuantity } from "../quantity.ts";

/** Returns the problems of the logging section. */
export function validateLogging(logging: LoggingConfiguration, isOn: GateEnabled): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (logging.vmodule.length > 0 && logging.format !== "text") {
    problems.push({ path: ["logging", "vmodule"], reason: "works with the format text only" });
  }
  for (const [index, { filePattern }] of logging.vmodule.entries()) {
    const path = ["logging", "vmodule", index, "filePattern"];
    if (filePattern === "") problems.push({ path, reason: "must not be empty" });
    if (/[=,]/.test(filePattern)) {
      problems.push({ path, reason: `must not contain = or a comma, got ${JSON.stringify(filePattern)}` });
    }
  }
  if (logging.format === "json" && !isOn("LoggingBetaOptions")) {
    problems.push({ path: ["logging", "format"], reason: "json needs the feature gate LoggingBetaOptions" });
  }
  if (isOn("LoggingAlphaOptions")) return problems;
  const reason = "needs the feature gate LoggingAlphaOptions";
  for (const format of ["text", "json"] as const) {
    const { splitStream, infoBufferSize } = logging.options[format];
    const path = ["logging", "options", format];
    if (splitStream) problems.push({ path: [...path, "splitStream"], reason });
    if (parseQuantity(infoBufferSize)?.nano !== 0n) problems.push({ path: [...path, "infoBufferSize"], reason });
  }
  return problems;
}
