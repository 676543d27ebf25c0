/** The words of probing: which probes a container has, what one attempt said, what follows from several. */
import type { Container } from "../api.ts";

/** A probe as the API has it. */
export type Probe = NonNullable<Container["livenessProbe"]>;
export type HttpGetAction = NonNullable<Probe["httpGet"]>;

export type ProbeKind = "startup" | "liveness" | "readiness";

/** In the order in which they matter: the startup probe gates the others. */
export const PROBE_KINDS: readonly ProbeKind[] = ["startup", "liveness", "readiness"];

/** The probe of one kind; undefined when the container has none. */
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

/** What one attempt said. A warning is a success that deserves an event. An attempt that could not be made is an error. */
export interface ProbeOutcome {
  readonly result: "success" | "warning" | "failure";
  /** For people; at most 10 KiB of what the other side said. */
  readonly output: string;
}

/** What several attempts amount to. */
export type ProbeResult = "success" | "failure" | "unknown";

/** Shown to HTTP and gRPC servers as the version of the prober: the API version this kubelet follows. */
export const PROBER_VERSION = "1.36";
