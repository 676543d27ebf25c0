/**
 * The life of a container as text. A timeline lists states and their durations, `w1s R5s R5s b10s R5s`; a diagram draws
 * them to scale, one letter per slice of time, like a marble diagram: `wwRRRRR|RRRR|bbbbbbbbbRRRR`.
 */
import type { ApiContainerStatus, PodStatus } from "../../core/api.ts";
import { allContainerStatuses, podContainerStatuses } from "../../core/pod/containers.ts";
import type { History } from "./history.ts";
import { podOfContainer } from "./scenarioNames.ts";
import { shortDuration } from "./scenarioTime.ts";

/** Letters of container states in the pod status. */
export const STATE_LETTERS = {
  R: "running and ready",
  r: "running, not ready",
  w: "waiting for its turn, its sandbox or its image",
  i: "waiting: its image cannot be pulled",
  b: "waiting in CrashLoopBackOff",
  c: "ended with code 0",
  x: "ended with another code",
  "-": "the kubelet knows no such pod",
  "?": "the kubelet is down",
} as const;

/** The letter of a state. */
export type StateLetter = keyof typeof STATE_LETTERS;

/** An interval in one state. */
export interface Span {
  readonly state: StateLetter;
  readonly fromMs: number;
  readonly toMs: number;
  /** Restart count; two running spans with different counts are two instances. */
  readonly restarts: number;
}

const PULL_REASONS = ["ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError"];

/** Returns the status of a container; undefined when the pod has no container of that name. */
export const statusOfContainer = (status: PodStatus | undefined, name: string): ApiContainerStatus | undefined =>
  allContainerStatuses(status).find((each) => each.name === name);

/** Returns the letter of a container status. */
function letterOf(status: ApiContainerStatus | undefined): StateLetter {
  if (status === undefined) return "-";
  const { running, terminated, waiting } = status.state ?? {};
  if (running !== undefined) return status.ready ? "R" : "r";
  if (terminated !== undefined) return terminated.exitCode === 0 ? "c" : "x";
  if (waiting?.reason === "CrashLoopBackOff") return "b";
  return PULL_REASONS.includes(waiting?.reason ?? "") ? "i" : "w";
}

/** Returns the states of a container from the start to the end of a run, without gaps. */
export function spansOf({ pods, kubeletDown, endMs }: History, container: string): readonly Span[] {
  const pod = podOfContainer(container);
  const name = container.slice(pod.length + 1);
  const reported = (pods.get(pod) ?? []).map(({ atMs, status }) => {
    const found = statusOfContainer(status, name);
    return { fromMs: atMs, state: letterOf(found), restarts: found?.restartCount ?? 0 };
  });
  const lost = kubeletDown.filter(({ fromMs, toMs }) => toMs > fromMs);
  // Order within an instant: the kubelet starts, reports statuses, then stops.
  const points: readonly Omit<Span, "toMs">[] = [
    { fromMs: 0, state: "-" as const, restarts: 0 },
    ...lost.map(({ toMs }) => ({ fromMs: toMs, state: "-" as const, restarts: 0 })),
    ...reported,
    ...lost.map(({ fromMs }) => ({ fromMs, state: "?" as const, restarts: 0 })),
  ].sort((a, b) => a.fromMs - b.fromMs);
  const spans = points.map((point, index) => ({ ...point, toMs: points[index + 1]?.fromMs ?? endMs }));
  return joined(spans.filter(({ fromMs, toMs }) => toMs > fromMs));
}

function joined(spans: readonly Span[]): readonly Span[] {
  const done: Span[] = [];
  for (const span of spans) {
    const last = done.at(-1);
    const goesOn = last?.state === span.state && last.restarts === span.restarts;
    if (goesOn) done[done.length - 1] = { ...last, toMs: span.toMs };
    else done.push(span);
  }
  return done;
}

/** Formats a timeline of the states that lasted at least half of `precisionMs`, durations rounded to it. */
export function timelineText(spans: readonly Span[], precisionMs = 1_000): string {
  const long = joined(spans.filter(({ fromMs, toMs }) => toMs - fromMs >= precisionMs / 2));
  return long
    .map(
      ({ state, fromMs, toMs }) => `${state}${shortDuration(Math.round((toMs - fromMs) / precisionMs) * precisionMs)}`,
    )
    .join(" ");
}

/** Formats a diagram: per slice the state that filled most of it; `|` where an instance ended. */
export function diagramText(spans: readonly Span[], sliceMs: number): string {
  const endMs = spans.at(-1)?.toMs ?? 0;
  const ends = new Set(
    spans.flatMap((span, index) => (instanceEnds(span, spans[index + 1]) ? [Math.floor(span.toMs / sliceMs)] : [])),
  );
  return Array.from({ length: Math.ceil(endMs / sliceMs) }, (_, slice) =>
    ends.has(slice) ? "|" : longestIn(spans, slice * sliceMs, (slice + 1) * sliceMs),
  ).join("");
}

const isRunning = ({ state }: Span): boolean => state === "R" || state === "r";

/** Whether a running instance ended there, rather than changed its readiness or went unobserved. */
const instanceEnds = (span: Span, next: Span | undefined): boolean =>
  isRunning(span) && next !== undefined && next.state !== "?" && (!isRunning(next) || next.restarts !== span.restarts);

function longestIn(spans: readonly Span[], fromMs: number, toMs: number): StateLetter {
  let [best, bestMs]: [StateLetter, number] = ["-", 0];
  for (const span of spans) {
    const ms = Math.min(span.toMs, toMs) - Math.max(span.fromMs, fromMs);
    if (ms > bestMs) [best, bestMs] = [span.state, ms];
  }
  return best;
}

/** Returns the names (`pod/container`) of all containers of the run, in order of appearance. */
export function containersOf({ pods }: History): readonly string[] {
  const names = new Set<string>();
  for (const [pod, moments] of pods) {
    for (const { status } of moments) {
      for (const { name } of podContainerStatuses(status)) names.add(`${pod}/${name}`);
    }
  }
  return [...names];
}
