/**
 * Plans init containers for a sync: run them in order, start the next one once a sidecar has started, keep sidecars
 * running. Only instances in the current sandbox count, because a new sandbox is initialized again. Upstream:
 * computeInitContainerActions (kuberuntime_container.go).
 */
import type { Container } from "../api.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import { isSidecar } from "./containers.ts";
import { killOf, verdictOn } from "./killOf.ts";
import type { ContainerKill, PodActionsInput } from "./podActionsTypes.ts";
import { isInitContainerFailed, newestContainer, restartsAfterExit, restartsAfterKill } from "./restartRules.ts";
import { containerSpecHash } from "../container/specHash.ts";

/** The part of the plan for init containers. */
export interface InitContainerActions {
  /** Whether regular containers may run. */
  readonly initialized: boolean;
  /** Whether an init container failed permanently, so the pod must be stopped. */
  readonly failed: boolean;
  /** Indexes into `spec.initContainers`, in spec order. */
  readonly starts: readonly number[];
  readonly kills: readonly ContainerKill[];
}

/** Actions for one init container. */
interface Step {
  readonly kill?: ContainerKill;
  readonly restart?: boolean;
  /** Whether it completed or, as a sidecar, started: the next one may start. */
  readonly completed?: boolean;
  readonly failed?: boolean;
}

// An OOM kill is a failure even with exit code 0.
const failureCode = (container: RuntimeContainer): number => (container.exitCode === 0 ? 137 : container.exitCode);

function runningSidecarStep(input: PodActionsInput, spec: Container, container: RuntimeContainer): Step {
  const verdict = verdictOn(container, input.verdicts);
  if (spec.startupProbe !== undefined && verdict?.started !== true) {
    if (verdict?.live !== false) return {};
    const message = `Init container ${spec.name} failed startup probe`;
    return { kill: killOf(container, message, "StartupProbe"), restart: true };
  }
  if (container.specHash !== containerSpecHash(spec)) {
    const message = `Init container ${spec.name} definition changed`;
    return { kill: killOf(container, message, "SpecChanged"), restart: true, completed: true };
  }
  if (verdict?.live === false) {
    const message = `Init container ${spec.name} failed liveness probe`;
    return { kill: killOf(container, message, "LivenessProbe"), restart: true, completed: true };
  }
  if (input.resizeRestarts.has(spec.name)) {
    const message = `Container ${spec.name} resize requires restart`;
    return { kill: killOf(container, message, "Resized"), restart: true, completed: true };
  }
  return { completed: true };
}

function exitedStep(input: PodActionsInput, spec: Container, container: RuntimeContainer): Step {
  if (isSidecar(spec)) return { restart: true };
  if (!isInitContainerFailed(container)) return { completed: true };
  return restartsAfterExit(spec, input.pod.spec, failureCode(container)) ? { restart: true } : { failed: true };
}

function unknownStep(input: PodActionsInput, spec: Container, container: RuntimeContainer): Step {
  // The exit code is unknown, so no restart rule applies.
  if (!isSidecar(spec) && !restartsAfterKill(spec, input.pod.spec)) return { failed: true };
  const message = 'Init container is in "unknown" state, try killing it before restart';
  return { kill: killOf(container, message, "Unknown"), restart: true };
}

function stepOf(input: PodActionsInput, spec: Container, container: RuntimeContainer): Step {
  switch (container.state) {
    case "created":
      // Creation and start are one step, so the runtime failed to start it.
      return { restart: true };
    case "running":
      return isSidecar(spec) ? runningSidecarStep(input, spec, container) : {};
    case "exited":
      return exitedStep(input, spec, container);
    case "unknown":
      return unknownStep(input, spec, container);
  }
}

// Differs from upstream: an exited regular container of this sandbox counts too. Upstream cannot tell sandboxes apart
// here and would rerun init containers that were removed.
function regularContainerSeen(input: PodActionsInput, inSandbox: PodRuntimeStatus): boolean {
  return input.pod.spec.containers.some((spec) => newestContainer(inSandbox, spec.name) !== undefined);
}

/** Returns the status with only the containers of the newest sandbox. */
export function inNewestSandbox(runtime: PodRuntimeStatus): PodRuntimeStatus {
  const [newest] = runtime.sandboxes;
  return { ...runtime, containers: runtime.containers.filter((container) => container.sandboxId === newest?.id) };
}

/**
 * Plans the init containers of a pod that keeps its sandbox. Walks from the last to the first: older instances may have
 * been removed from the runtime, so the last one found shows how far initialization got.
 */
export function initContainerActions(input: PodActionsInput): InitContainerActions {
  const specs = input.pod.spec.initContainers ?? [];
  const inSandbox = inNewestSandbox(input.runtime);
  let initialized = specs.length === 0 || regularContainerSeen(input, inSandbox);
  let passed = initialized;
  const starts = new Set<number>();
  const kills: ContainerKill[] = [];
  for (const [index, spec] of [...specs.entries()].reverse()) {
    const container = newestContainer(inSandbox, spec.name);
    // Before the last one found, only sidecars matter: start those that the runtime no longer has.
    if (passed && !isSidecar(spec)) continue;
    if (container === undefined) {
      if (passed) starts.add(index);
      continue;
    }
    const step = stepOf(input, spec, container);
    if (step.failed === true) return { initialized: false, failed: true, starts: [], kills: [] };
    if (step.kill !== undefined) kills.unshift(step.kill);
    if (step.restart === true) starts.add(index);
    if (step.completed === true && index === specs.length - 1) initialized = true;
    else if (step.completed === true && !passed) starts.add(index + 1);
    passed = true;
  }
  if (!passed) starts.add(0);
  return { initialized, failed: false, starts: [...starts].sort((a, b) => a - b), kills };
}
