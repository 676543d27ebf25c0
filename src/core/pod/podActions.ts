/**
 * Decides the actions of one pod sync from spec, runtime status, probe verdicts and backoffs. Pure and stateless; the
 * pod worker executes the plan step by step. Upstream: computePodActions (kuberuntime_manager.go) and the doBackOff of
 * its start step.
 */
import type { Container, Pod } from "../api.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import { isSidecar } from "./containers.ts";
import { crashLoopGate } from "./crashLoopGate.ts";
import { initContainerActions, inNewestSandbox } from "./initContainerActions.ts";
import { newSandboxActions } from "./newSandboxActions.ts";
import type { ContainerKind, ContainerStart, ContainerWait, PodActions, PodActionsInput } from "./podActionsTypes.ts";
import { regularContainerActions } from "./regularContainerActions.ts";
import { containersToReset } from "./restartAllContainers.ts";
import { newestContainer } from "./restartRules.ts";
import { sandboxChange } from "./sandboxChange.ts";

/** The plan before crash-loop backoff, as indexes into the spec's lists. */
interface Draft extends Pick<PodActions, "killPod" | "createSandbox" | "sandboxId" | "attempt" | "containersToKill"> {
  readonly init: readonly number[];
  readonly regular: readonly number[];
  readonly ephemeral: readonly number[];
}

function pick<T>(items: readonly T[] | undefined, indexes: readonly number[]): T[] {
  return indexes.flatMap((index) => items?.[index] ?? []);
}

// Ephemeral containers run once and are never restarted.
function ephemeralStarts({ pod, runtime }: PodActionsInput): number[] {
  const specs = pod.spec.ephemeralContainers ?? [];
  return [...specs.entries()].flatMap(([index, spec]) =>
    newestContainer(runtime, spec.name) === undefined ? [index] : [],
  );
}

type EphemeralContainer = NonNullable<Pod["spec"]["ephemeralContainers"]>[number];

function ephemeralStart({ name, targetContainerName }: EphemeralContainer, runtime: PodRuntimeStatus): ContainerStart {
  const start: ContainerStart = { name, kind: "ephemeral", restartCount: 0 };
  if (targetContainerName === undefined || targetContainerName === "") return start;
  const containerId = newestContainer(runtime, targetContainerName)?.id;
  return { ...start, target: { name: targetContainerName, containerId } };
}

function draftForNewSandbox(input: PodActionsInput): Draft {
  const { attempt, sandboxId } = sandboxChange(input.pod, input.runtime);
  const actions = newSandboxActions(input.pod, input.runtime, attempt);
  return {
    killPod: true,
    createSandbox: actions !== undefined,
    sandboxId,
    attempt,
    init: actions?.initStarts ?? [],
    regular: actions?.regularStarts ?? [],
    ephemeral: [],
    containersToKill: [],
  };
}

function draftInSandbox(input: PodActionsInput): Draft {
  const { attempt, sandboxId } = sandboxChange(input.pod, input.runtime);
  const base = { killPod: false, createSandbox: false, sandboxId, attempt, ephemeral: ephemeralStarts(input) };
  const init = initContainerActions(input);
  if (init.failed) return { ...base, killPod: true, init: [], regular: [], ephemeral: [], containersToKill: [] };
  if (!init.initialized) return { ...base, init: init.starts, regular: [], containersToKill: init.kills };
  const regular = regularContainerActions(input);
  const containersToKill = [...init.kills, ...regular.kills];
  if (regular.keepCount > 0 || regular.starts.length > 0) {
    return { ...base, init: init.starts, regular: regular.starts, containersToKill };
  }
  // Only regular containers keep the pod alive; sidecars and ephemeral containers do not.
  return { ...base, killPod: true, init: [], regular: [], ephemeral: [], containersToKill };
}

/** A plan that only removes all containers. The next sync decides the rest after their removal. */
function resetPlan({ pod, runtime }: PodActionsInput): PodActions | undefined {
  const resets = containersToReset(pod, runtime);
  if (resets.length === 0) return undefined;
  const { attempt, sandboxId } = sandboxChange(pod, runtime);
  return {
    killPod: false,
    createSandbox: false,
    sandboxId,
    attempt,
    initContainersToStart: [],
    containersToStart: [],
    ephemeralContainersToStart: [],
    containersToKill: [],
    waits: [],
    containersToReset: resets,
  };
}

interface Gated {
  readonly starts: ContainerStart[];
  readonly waits: ContainerWait[];
  /** Whether a waiting container blocks those after it. */
  readonly blocked: boolean;
}

/** Passes `specs` through the crash-loop gate in order, up to the first that waits and must not be overtaken. */
function gateAll(
  input: PodActionsInput,
  specs: readonly Container[],
  kind: ContainerKind,
  history: readonly RuntimeContainer[],
  mayOvertake: (spec: Container) => boolean,
): Gated {
  const starts: ContainerStart[] = [];
  const waits: ContainerWait[] = [];
  for (const spec of specs) {
    const result = crashLoopGate(input, spec, kind, history);
    if (result.kind === "start") starts.push(result.start);
    else waits.push(result.wait);
    if (result.kind === "wait" && !mayOvertake(spec)) return { starts, waits, blocked: true };
  }
  return { starts, waits, blocked: false };
}

/**
 * Returns the plan of one sync. Equal inputs give equal plans. A container in crash-loop backoff is in `waits`, not
 * among the starts; kills happen even when the restart has to wait.
 */
export function computePodActions(input: PodActionsInput): PodActions {
  const resets = resetPlan(input);
  if (resets !== undefined) return resets;
  const { pod, runtime } = input;
  const isNew = sandboxChange(pod, runtime).changed;
  const draft = isNew ? draftForNewSandbox(input) : draftInSandbox(input);
  const { killPod, createSandbox, sandboxId, attempt, containersToKill } = draft;
  const ephemeral = pick(pod.spec.ephemeralContainers, draft.ephemeral).map((spec) => ephemeralStart(spec, runtime));
  const initHistory = isNew ? [] : inNewestSandbox(runtime).containers;
  const init = gateAll(input, pick(pod.spec.initContainers, draft.init), "init", initHistory, isSidecar);
  const regularSpecs = init.blocked ? [] : pick(pod.spec.containers, draft.regular);
  const regular = gateAll(input, regularSpecs, "regular", runtime.containers, () => true);
  return {
    killPod,
    createSandbox,
    sandboxId,
    attempt,
    initContainersToStart: init.starts,
    containersToStart: regular.starts,
    ephemeralContainersToStart: ephemeral,
    containersToKill,
    waits: [...init.waits, ...regular.waits],
    containersToReset: [],
  };
}

/** Returns the containers to start, in this order. */
export const startsOf = (actions: PodActions): readonly ContainerStart[] => [
  ...actions.initContainersToStart,
  ...actions.ephemeralContainersToStart,
  ...actions.containersToStart,
];
