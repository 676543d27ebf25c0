/**
 * Divides the containers to start into those that may start now and those in crash-loop backoff. Only reads the
 * backoffs; the step that starts a container records its restart. Upstream: doBackOff (kuberuntime_manager.go).
 */
import type { Container, Pod } from "../api.ts";
import { backoffUntil, containerBackoffKey } from "../backoff.ts";
import { formatDuration } from "../config/duration.ts";
import { containerSpecHash } from "../container/specHash.ts";
import { kubeletError } from "../errors.ts";
import { epochMs, type MonotonicMs } from "../ids.ts";
import type { RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import { formatInstant } from "../time/civilTime.ts";
import type { ContainerKind, ContainerStart, ContainerWait, PodActionsInput } from "./podActionsTypes.ts";
import { allNamed } from "../findNamed.ts";

/** Returns the pod's name in messages: `name_namespace(uid)`. */
export const describePod = ({ metadata }: Pod): string => `${metadata.name}_${metadata.namespace}(${metadata.uid})`;

/** Outcome of the gate for one container. */
export type GateResult =
  | { readonly kind: "start"; readonly start: ContainerStart }
  | { readonly kind: "wait"; readonly wait: ContainerWait };

// Considers every sandbox of the pod: restart counts only grow.
function nextRestartCount(input: PodActionsInput, name: string): number {
  const counts = allNamed(input.runtime.containers, name).map((each) => each.restartCount);
  return counts.length === 0 ? 0 : Math.max(...counts) + 1;
}

// Differs from upstream: upstream leaves an instance whose start seemed to fail beside the next one, and it may still
// start.
function replacedBy(input: PodActionsInput, name: string): Pick<ContainerStart, "replaces"> {
  const made = allNamed(input.runtime.containers, name).filter((each) => each.state === "created");
  return made.length === 0 ? {} : { replaces: made };
}

/**
 * Returns upstream's text followed by the time of the next try. That time counts from the termination that the status
 * shows, so the text stays the same while the container waits.
 */
function crashLoopWait(input: PodActionsInput, last: RuntimeContainer, key: string, until: MonotonicMs): ContainerWait {
  const { name, finishedAt } = last;
  const delayMs = input.backoffs.get(key)?.delayMs ?? 0;
  const upstream = `back-off ${formatDuration(delayMs)} restarting failed container=${name} pod=${describePod(input.pod)}`;
  const message = finishedAt === undefined ? upstream : `${upstream} next-try=${secondAfter(finishedAt + delayMs)}`;
  return { name, until, error: kubeletError("Backoff", message, { reason: "CrashLoopBackOff" }) };
}

/** Rounds an instant up to the whole second. */
const secondAfter = (at: number): string => formatInstant(epochMs(Math.ceil(at / 1000) * 1000));

/** Decides whether one container may start. `history` holds the instances whose exits count, newest first. */
export function crashLoopGate(
  input: PodActionsInput,
  spec: Container,
  kind: ContainerKind,
  history: readonly RuntimeContainer[],
): GateResult {
  const { name } = spec;
  const restartCount = nextRestartCount(input, name);
  const last = allNamed(history, name).find((each) => each.state === "exited");
  const plain: ContainerStart = { name, kind, restartCount, ...replacedBy(input, name) };
  if (last?.exitedAt === undefined) return { kind: "start", start: plain };
  const { exitedAt } = last;
  const key = containerBackoffKey(name, containerSpecHash(spec));
  const until = backoffUntil(input.backoffs, key, exitedAt, input.backoffPolicy);
  return until !== undefined && until > input.now
    ? { kind: "wait", wait: crashLoopWait(input, last, key, until) }
    : { kind: "start", start: { ...plain, backoff: { key, exitedAt } } };
}
