/** Drops pod fields whose feature gate is off. */
import type { Container, Pod, PodSpec } from "../api.ts";
import { perObject } from "../perObject.ts";

/** Feature gates of pod fields. */
export interface PodFieldGates {
  /** ContainerRestartRules. */
  readonly containerRestartRules: boolean;
  /**
   * RestartAllContainersOnContainerExits. When off, admission rejects pods that need it. Has no effect without
   * containerRestartRules.
   */
  readonly restartAllContainers: boolean;
  /** HostnameOverride. */
  readonly hostnameOverride: boolean;
  /** ContainerStopSignals: `lifecycle.stopSignal`. */
  readonly stopSignals: boolean;
  /** EnvFiles: `valueFrom.fileKeyRef` of an environment variable. */
  readonly envFiles: boolean;
}

/** Removes one field. Returns the same object when the field is not set. */
type Strip<T> = (of: T) => T;

function stripRestartRules(gates: PodFieldGates, isInit: boolean): Strip<Container> | undefined {
  if (gates.containerRestartRules && gates.restartAllContainers) return undefined;
  return (container) => {
    const { restartPolicy, restartPolicyRules, ...rest } = container;
    if (restartPolicy === undefined && restartPolicyRules === undefined) return container;
    if (!gates.containerRestartRules) {
      const isSidecar = isInit && restartPolicy === "Always";
      return isSidecar ? { ...rest, restartPolicy } : rest;
    }
    if (restartPolicyRules === undefined) return container;
    const rules = restartPolicyRules.filter(({ action }) => action !== "RestartAllContainers");
    return { ...container, restartPolicyRules: rules };
  };
}

const stripStopSignal: Strip<Container> = (container) => {
  if (container.lifecycle?.stopSignal === undefined) return container;
  const { stopSignal: _, ...lifecycle } = container.lifecycle;
  return { ...container, lifecycle };
};

/** Leaves the variable empty, like a variable whose source the kubelet does not know. */
const stripEnvFiles: Strip<Container> = (container) => {
  if (container.env?.some(({ valueFrom }) => valueFrom?.fileKeyRef !== undefined) !== true) return container;
  const env = container.env.map((variable) =>
    variable.valueFrom?.fileKeyRef === undefined ? variable : { name: variable.name, value: "" },
  );
  return { ...container, env };
};

function stripContainer(gates: PodFieldGates, isInit: boolean): Strip<Container> {
  const strips = [
    stripRestartRules(gates, isInit),
    gates.stopSignals ? undefined : stripStopSignal,
    gates.envFiles ? undefined : stripEnvFiles,
  ].filter((strip) => strip !== undefined);
  return (container) => strips.reduce((left, strip) => strip(left), container);
}

/** Returns the same list when no item changes. */
function stripAll<T>(list: readonly T[], strip: Strip<T>): readonly T[] {
  const stripped = list.map(strip);
  return stripped.every((one, index) => one === list[index]) ? list : stripped;
}

function stripSpec(gates: PodFieldGates): Strip<PodSpec> {
  const [init, regular] = [stripContainer(gates, true), stripContainer(gates, false)];
  return (spec) => {
    const { hostnameOverride, ...unnamed } = spec;
    const named = gates.hostnameOverride || hostnameOverride === undefined ? spec : unnamed;
    const containers = stripAll(spec.containers, regular);
    const initContainers = spec.initContainers && stripAll(spec.initContainers, init);
    if (named === spec && containers === spec.containers && initContainers === spec.initContainers) return spec;
    return { ...named, containers, ...(initContainers === undefined ? {} : { initContainers }) };
  };
}

/** Returns a function that drops disabled fields from pods. A pod without such fields stays the same object. */
export function gatedPods(gates: PodFieldGates): (pods: readonly Pod[]) => readonly Pod[] {
  if (Object.values(gates).every((isOn) => isOn)) return (pods) => pods;
  const strip = stripSpec(gates);
  const gated = perObject((pod: Pod): Pod => {
    const spec = strip(pod.spec);
    return spec === pod.spec ? pod : { ...pod, spec };
  });
  return (pods) => stripAll(pods, gated);
}
