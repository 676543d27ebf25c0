/** Types of probing: the probes of a container, the outcome of one attempt, the result of several. */
import type { Container } from "../api.ts";

/** A probe of the API. */
export type Probe = NonNullable<Container["livenessProbe"]>;
export type HttpGetAction = NonNullable<Probe["httpGet"]>;

export type ProbeKind = "startup" | "liveness" | "readiness";

/** Ordered by precedence: the startup probe gates the others. */
export const PROBE_KINDS: readonly ProbeKind[] = ["startup", "liveness", "readiness"];

/** Returns the probe of one kind; undefined when the container has none. */
export function probeOf(container: Container, kind: ProbeKind): Probe | undefined {
  switch (kind) {
    case "startup":
      return container.startupProbe;
    case "liveness":
      return container.livenessProbe;
    case "readiness":
      return container.readinessProbe;
  }
}

/**
 * The outcome of one attempt. A warning is a success with an event. An attempt that could not be made is an error
 * instead.
 */
export interface ProbeOutcome {
  readonly result: "success" | "warning" | "failure";
  /** Human-readable; at most 10 KiB of the response. */
  readonly output: string;
}

/** The result of several attempts. */
export type ProbeResult = "success" | "failure" | "unknown";

/** The API version of this kubelet, sent to HTTP and gRPC servers as the prober's version. */
export const PROBER_VERSION = "1.36";
