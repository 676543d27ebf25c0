/**
 * Validates eviction settings: signals, thresholds, grace periods, minimum reclaim.
 * Upstream: eviction.ParseThresholdConfig, which runs at startup instead of during validation.
 */
import { EVICTION_SIGNALS } from "../eviction/thresholds.ts";
import { quantityHint } from "../meantQuantity.ts";
import { parseQuantity } from "../quantity.ts";
import type { ConfigProblem } from "./configProblem.ts";
import { parseDuration } from "./duration.ts";
import type { KubeletConfiguration } from "./kubeletConfiguration.ts";

type Fault = (text: string) => string | undefined;
const PERCENT = /^([+-]?\d+(?:\.\d+)?)%$/;

const thresholdFault: Fault = (text) => {
  const percent = PERCENT.exec(text)?.[1];
  if (percent !== undefined) {
    return Number(percent) >= 0 && Number(percent) <= 100
      ? undefined
      : `must be between 0% and 100%, got ${JSON.stringify(text)}`;
  }
  const quantity = parseQuantity(text);
  if (quantity !== undefined && quantity.nano > 0n) return undefined;
  return `must be a percentage or a quantity above 0, got ${JSON.stringify(text)}${quantityHint(text)}`;
};

const gracePeriodFault: Fault = (text) => {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= 0) return undefined;
  return `must be a duration of 0s or more such as "1m30s", got ${JSON.stringify(text)}`;
};

const reclaimFault: Fault = (text) => {
  const percent = PERCENT.exec(text)?.[1];
  if (percent !== undefined) {
    return Number(percent) > 0 ? undefined : `must be above 0%, got ${JSON.stringify(text)}`;
  }
  const quantity = parseQuantity(text);
  if (quantity !== undefined && quantity.nano >= 0n) return undefined;
  return `must be a percentage or a quantity of 0 or more, got ${JSON.stringify(text)}${quantityHint(text)}`;
};

function signals(field: string, settings: Readonly<Record<string, string>>, fault: Fault): readonly ConfigProblem[] {
  return Object.entries(settings).flatMap(([signal, text]) => {
    const reason = EVICTION_SIGNALS.includes(signal)
      ? fault(text)
      : `unknown signal; the signals are ${EVICTION_SIGNALS.join(", ")}`;
    return reason === undefined ? [] : [{ path: [field, signal], reason }];
  });
}

/** Returns the problems of the eviction settings. */
export function validateEviction(config: KubeletConfiguration): readonly ConfigProblem[] {
  const withoutGrace = Object.keys(config.evictionSoft).filter(
    (signal) => EVICTION_SIGNALS.includes(signal) && config.evictionSoftGracePeriod[signal] === undefined,
  );
  return [
    ...signals("evictionHard", config.evictionHard, thresholdFault),
    ...signals("evictionSoft", config.evictionSoft, thresholdFault),
    ...signals("evictionSoftGracePeriod", config.evictionSoftGracePeriod, gracePeriodFault),
    ...signals("evictionMinimumReclaim", config.evictionMinimumReclaim, reclaimFault),
    ...withoutGrace.map((signal) => ({
      path: ["evictionSoft", signal],
      reason: "needs a grace period in evictionSoftGracePeriod",
    })),
  ];
}
