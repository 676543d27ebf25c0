/**
 * Derives the pod phase from container statuses. status.ts applies overrides and keeps a terminal phase. Upstream:
 * getPhase (pkg/kubelet/kubelet_pods.go).
 */
import type { ApiContainerStatus, Container, Pod, PodSpec } from "../api.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";
import { isSidecar } from "./containers.ts";
import { isStaticPod } from "./criticalPod.ts";
import { RESTARTING_ALL } from "./restartAllContainers.ts";
import { restartsAfterExit } from "./restartRules.ts";
import { findNamed } from "../findNamed.ts";

export type PodPhase = "Pending" | "Running" | "Succeeded" | "Failed";

/** Inputs of the pod phase. */
export interface PhaseInput {
  readonly pod: Pod;
  readonly initStatuses: readonly ApiContainerStatus[];
  readonly regularStatuses: readonly ApiContainerStatus[];
  /** Whether no container will start again, regardless of the restart policy. */
  readonly terminal: boolean;
  /**
   * Whether a regular container was created in the current sandbox. A restarting sidecar then does not make the pod
   * Pending.
   */
  readonly initialized: boolean;
}

/** Whether the phase is final. */
export const isTerminalPhase = (phase: string | undefined): phase is "Succeeded" | "Failed" =>
  phase === "Succeeded" || phase === "Failed";

/** Whether a regular container was created in the current sandbox. Upstream: HasAnyActiveRegularContainerStarted. */
export function hasRegularContainerInSandbox({ containers }: PodSpec, runtime: PodRuntimeStatus): boolean {
  const [newest] = runtime.sandboxes;
  if (newest?.ready !== true) return false;
  const names = new Set(containers.map(({ name }) => name));
  return runtime.containers.some(({ name, sandboxId }) => sandboxId === newest.id && names.has(name));
}

/** Whether a regular container has run in this pod, which implies that initialization completed once. */
export function hasAnyRegularContainerStarted(spec: PodSpec, statuses: readonly ApiContainerStatus[]): boolean {
  return spec.containers.some(({ name }) => {
    const status = findNamed(statuses, name);
    return status?.state?.running !== undefined || status?.state?.terminated !== undefined;
  });
}

/** Whether a container that terminated this way is to be restarted. */
const startsAgain = (spec: Container, pod: Pod, ended: { readonly exitCode: number; readonly reason?: string }) =>
  ended.reason === RESTARTING_ALL || restartsAfterExit(spec, pod.spec, ended.exitCode);

interface InitCounts {
  pending: number;
  /** Sidecars that have not started. */
  pendingSidecars: number;
  /** Failed and not to be restarted. */
  dead: number;
  running: number;
  waiting: number;
  unknown: number;
}

function countInit(spec: Container, pod: Pod, status: ApiContainerStatus | undefined, counts: InitCounts): void {
  const { running, terminated, waiting } = status?.state ?? {};
  const ended = terminated ?? (waiting === undefined ? undefined : status?.lastState?.terminated);
  if (running === undefined && ended !== undefined) {
    const isDead = ended.exitCode !== 0 && !startsAgain(spec, pod, ended);
    if (isDead) counts.dead += 1;
  } else counts.pending += 1;
}

// A terminated sidecar does not affect the phase; a sidecar that never ran keeps the pod Pending.
function countSidecar(status: ApiContainerStatus | undefined, counts: InitCounts): void {
  const { running, terminated, waiting } = status?.state ?? {};
  if (status === undefined) counts.unknown += 1;
  else if (running !== undefined) {
    counts.running += 1;
    if (status.started !== true) counts.pendingSidecars += 1;
  } else if (terminated !== undefined || (waiting !== undefined && status.lastState?.terminated !== undefined)) return;
  else {
    counts.pendingSidecars += 1;
    if (waiting === undefined) counts.unknown += 1;
    else counts.waiting += 1;
  }
}

interface RegularCounts {
  running: number;
  waiting: number;
  stopped: number;
  succeeded: number;
  unknown: number;
  /** Stopped, but to be restarted. */
  restarting: number;
}

function countRegular(spec: Container, pod: Pod, status: ApiContainerStatus | undefined, counts: RegularCounts): void {
  const { running, terminated, waiting } = status?.state ?? {};
  const ended = terminated ?? (waiting === undefined ? undefined : status?.lastState?.terminated);
  if (running !== undefined) counts.running += 1;
  else if (ended !== undefined) {
    counts.stopped += 1;
    if (terminated?.exitCode === 0) counts.succeeded += 1;
    if (startsAgain(spec, pod, ended)) counts.restarting += 1;
  } else if (waiting !== undefined) counts.waiting += 1;
  else counts.unknown += 1;
}

/** Returns the phase that the statuses imply. The caller keeps a terminal phase. */
export function podPhase({ pod, initStatuses, regularStatuses, terminal, initialized }: PhaseInput): PodPhase {
  const init: InitCounts = { pending: 0, pendingSidecars: 0, dead: 0, running: 0, waiting: 0, unknown: 0 };
  for (const spec of pod.spec.initContainers ?? []) {
    const status = findNamed(initStatuses, spec.name);
    if (isSidecar(spec)) countSidecar(status, init);
    else countInit(spec, pod, status, init);
  }
  const regular: RegularCounts = { running: 0, waiting: 0, stopped: 0, succeeded: 0, unknown: 0, restarting: 0 };
  for (const spec of pod.spec.containers) {
    const status = findNamed(regularStatuses, spec.name);
    countRegular(spec, pod, status, regular);
  }
  const unknown = init.unknown + regular.unknown;
  const running = init.running + regular.running;
  if (init.dead > 0) return "Failed";
  // When all regular containers are done, missing init containers do not matter: they are not rerun.
  const isDone = regular.stopped === pod.spec.containers.length && regular.restarting === 0;
  if (!isDone && (init.pending > 0 || (init.pendingSidecars > 0 && !initialized))) return "Pending";
  if (!isDone && (init.waiting + regular.waiting > 0 || unknown > 0)) return "Pending";
  if (running > 0) return "Running";
  if (regular.stopped === 0) return "Pending";
  const ended = regular.stopped === regular.succeeded ? "Succeeded" : "Failed";
  if (terminal && !isStaticPod(pod)) return ended;
  return regular.restarting > 0 ? "Running" : ended;
}
