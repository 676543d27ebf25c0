/**
 * The attempts of a probe on an instance, on a steady grid. Keeps the time of the next one. Bound: one attempt at a
 * time; attempts missed during a long one are skipped. Upstream: the loop of prober/worker.go.
 *
 *     grid        ----*----*----*----*
 *     attempts    e---s----f---------s     e: an early look at what has just started
 */
import { catchError, defer, type Observable, map, of } from "rxjs";
import type { Container, Pod } from "../../core/api.ts";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import { type ContainerId, monotonicMs } from "../../core/ids.ts";
import type { ProbeVerdict } from "../../core/pod/podActionsTypes.ts";
import { attemptEvent, erroredEvent } from "../../core/probe/probeEvents.ts";
import { nextOnGrid, probeGrid } from "../../core/probe/probeSchedule.ts";
import { observeAttempt, type ProbeState } from "../../core/probe/probeState.ts";
import { type ProbeKind, probeOf, type ProbeOutcome } from "../../core/probe/probeTypes.ts";
import { VERBOSITY } from "../../core/telemetry/verbosity.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import { type PodContext, podFields } from "../podContext.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";
import { attemptProbe } from "./probeAttempt.ts";
import { countAttempt } from "./probeMetrics.ts";

/** A running instance of a container with probes. */
export interface ProbedInstance {
  readonly pod: Pod;
  readonly container: Container;
  readonly id: ContainerId;
  /** Start on the monotonic clock, in milliseconds. */
  readonly startedAt: number;
  /** Whether it started under this worker, and not earlier. */
  readonly isFresh: boolean;
  /** The last verdict on it. */
  readonly known: ProbeVerdict | undefined;
  readonly podIp: string | undefined;
}

export interface ScheduledProbe extends ProbedInstance {
  readonly kind: ProbeKind;
  /** State before the attempt. */
  readonly stateOf: () => ProbeState | undefined;
  /** Whether to probe once off the grid, as soon as the initial delay allows. */
  readonly looksEarly: boolean;
}

/** The changes of one attempt. */
export interface AttemptStep {
  readonly outputs: readonly PodOutput[];
  /** Undefined if the attempt does not count. */
  readonly state: { readonly kind: ProbeKind; readonly state: ProbeState } | undefined;
}

const NOTHING: AttemptStep = { outputs: [], state: undefined };

/** Returns the attempts; never completes. */
export function probeSchedule(context: PodContext, scheduled: ScheduledProbe): Observable<AttemptStep> {
  return defer(() => {
    const { pod, container, kind } = scheduled;
    const { clock, telemetry } = context.ports;
    const probed = { podUid: pod.metadata.uid, containerName: container.name };
    const grid = probeGrid(probed, kind, probeOf(container, kind) ?? {}, monotonicMs(scheduled.startedAt));
    let dueAt = monotonicMs(-Infinity);
    let earlyLooks = scheduled.looksEarly ? 1 : 0;
    let isEarly = false;
    const untilDue = (): number => {
      const now = clock.monotonicMs();
      isEarly = earlyLooks > 0;
      earlyLooks = 0;
      // A timer may fire a little early: its instant has passed nevertheless.
      dueAt = isEarly ? monotonicMs(Math.max(now, grid.openAt)) : nextOnGrid(grid, monotonicMs(Math.max(now, dueAt)));
      return dueAt - now;
    };
    const attempt = (): Observable<AttemptStep> => {
      telemetry.metrics.observe("rxlet_probe_lateness_seconds", Math.max(0, clock.monotonicMs() - dueAt) / 1000);
      return attemptOnce(context, scheduled, isEarly);
    };
    return pollAfter(clock, untilDue, attempt, { immediately: false });
  });
}

function attemptOnce(context: PodContext, scheduled: ScheduledProbe, isEarly: boolean): Observable<AttemptStep> {
  return defer(() => {
    const { container, kind, id, podIp } = scheduled;
    const { clock, probers } = context.ports;
    const probe = probeOf(container, kind) ?? {};
    const beganAt = clock.monotonicMs();
    return attemptProbe({ probe, container, containerId: id, podIp }, probers).pipe(
      map((outcome): AttemptStep => {
        const { log } = context.ports.telemetry;
        log.verbose("runProbeSchedule", VERBOSITY.probes, "Probed", () => ({
          ...podFields(context),
          ...{
            container: container.name,
            probe: kind,
            result: outcome.result,
            durationMs: clock.monotonicMs() - beganAt,
          },
        }));
        countAttempt(context, container.name, kind, outcome, clock.monotonicMs() - beganAt);
        return isEarly && outcome.result === "failure" ? NOTHING : counted(context, scheduled, outcome);
      }),
      catchError((thrown: unknown) => of(isEarly ? NOTHING : errored(context, scheduled, toKubeletError(thrown)))),
    );
  });
}

function counted(context: PodContext, scheduled: ScheduledProbe, outcome: ProbeOutcome): AttemptStep {
  const { pod, container, kind, stateOf } = scheduled;
  const before = stateOf();
  if (before === undefined) return NOTHING;
  const state = observeAttempt(before, kind, probeOf(container, kind) ?? {}, outcome.result);
  if (state.result !== before.result) report(context, scheduled, state, outcome);
  const event = attemptEvent(pod, container.name, kind, outcome);
  return { outputs: event === undefined ? [] : [eventOutput(event)], state: { kind, state } };
}

/** An attempt that could not be made does not affect the state of the container. */
const errored = (context: PodContext, { pod, container, kind }: ScheduledProbe, error: KubeletError): AttemptStep => {
  context.ports.telemetry.log.debug("runProbeSchedule", "Probe could not be made", {
    ...podFields(context),
    container: container.name,
    probe: kind,
    error,
  });
  return { outputs: [eventOutput(erroredEvent(pod, container, kind, error))], state: undefined };
};

function report(
  context: PodContext,
  { container, kind }: ScheduledProbe,
  { result }: ProbeState,
  { output }: ProbeOutcome,
): void {
  const fields = { ...podFields(context), container: container.name, probe: kind };
  const { log } = context.ports.telemetry;
  if (result === "success") log.info("Probe passed", fields);
  else log.warn("Probe failed", { ...fields, output });
}
