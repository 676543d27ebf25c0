/** Events and metric labels of probes. Upstream: pkg/kubelet/prober. */
import type { Container, Pod } from "../api.ts";
import type { KubeletError } from "../errors.ts";
import type { KubeletEvent } from "../events.ts";
import { podEventObject } from "../pod/podEvents.ts";
import { type ProbeKind, probeOf, type ProbeOutcome } from "./probeTypes.ts";

const TITLE: Readonly<Record<ProbeKind, string>> = {
  startup: "Startup",
  liveness: "Liveness",
  readiness: "Readiness",
};

/** Value of the label `probe_type` and first word of every message. */
export const probeTitle = (kind: ProbeKind): string => TITLE[kind];

const warning = (pod: Pod, containerName: string, reason: string, message: string): KubeletEvent => ({
  type: "Warning",
  reason,
  message,
  object: podEventObject(pod, containerName),
});

/** Returns the event of one attempt; none for a success. */
export function attemptEvent(
  pod: Pod,
  containerName: string,
  kind: ProbeKind,
  { result, output }: ProbeOutcome,
): KubeletEvent | undefined {
  switch (result) {
    case "success":
      return undefined;
    case "warning":
      return warning(pod, containerName, "ProbeWarning", `${TITLE[kind]} probe warning: ${output}`);
    case "failure":
      return warning(pod, containerName, "Unhealthy", `${TITLE[kind]} probe failed: ${output}`);
  }
}

/**
 * Returns the event of an attempt that could not be made. Such an attempt does not count, but upstream's text names a
 * state: failure for an HTTP response whose body breaks off, else unknown.
 */
export function erroredEvent(pod: Pod, container: Container, kind: ProbeKind, error: KubeletError): KubeletEvent {
  const brokeOff = probeOf(container, kind)?.httpGet !== undefined && error.code !== "InvalidArgument";
  const state = brokeOff ? "failure" : "unknown";
  const message = `${TITLE[kind]} probe errored and resulted in ${state} state: ${error.message}`;
  return warning(pod, container.name, "Unhealthy", message);
}
