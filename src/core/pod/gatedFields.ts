/**
 * Fields of a pod that count only while their feature gate is on: all of these are by default.
 * Differs from upstream: `lifecycle.stopSignal` is heeded whatever its gate (ContainerStopSignals, alpha) says.
 */
import type { Container, Pod, PodSpec } from "../api.ts";

/** The gates, by what they let through. */
export interface PodFieldGates {
  /** ContainerRestartRules. */
  readonly containerRestartRules: boolean;
  /**
   * RestartAllContainersOnContainerExits, or admission refuses pods that need it; means nothing without
   * containerRestartRules.
   */
  readonly restartAllContainers: boolean;
  /** HostnameOverride. */
  readonly hostnameOverride: boolean;
}

function gatedContainer(container: Container, { containerRestartRules }: PodFieldGates, isInit: boolean): Container {
  const { restartPolicy, restartPolicyRules, ...rest } = container;
  const isSidecar = isInit && restartPolicy === "Always";
  if (!containerRestartRules) return isSidecar ? { ...rest, restartPolicy } : rest;
  if (restartPolicyRules === undefined) return container;
  const rules = restartPolicyRules.filter(({ action }) => action !== "RestartAllContainers");
  return { ...container, restartPolicyRules: rules };
}

function gatedSpec(spec: PodSpec, gates: PodFieldGates): PodSpec {
  const { hostnameOverride: _, ...rest } = spec;
  const named = gates.hostnameOverride ? spec : rest;
  if (gates.containerRestartRules && gates.restartAllContainers) return named;
  return {
    ...named,
    containers: spec.containers.map((container) => gatedContainer(container, gates, false)),
    ...(spec.initContainers === undefined
      ? {}
      : { initContainers: spec.initContainers.map((container) => gatedContainer(container, gates, true)) }),
  };
}

/** The pods without what a gate that is off takes from them; the same list when all are on. */
export function withoutGatedFields(pods: readonly Pod[], gates: PodFieldGates): readonly Pod[] {
  if (Object.values(gates).every((isOn) => isOn)) return pods;
  return pods.map((pod) => ({ ...pod, spec: gatedSpec(pod.spec, gates) }));
}
