/**
 * Detects stalls of this process's event loop. Stages (operators/loopStage.ts) name their work, Node's delay sampler
 * finds stalls outside stages, and a PerformanceObserver reports garbage collections. Once a second
 * core/telemetry/loopStalls.ts finds the cause of each stall. Owns the watch of stages while subscribed. Bounds:
 * MAX_PAUSES, and the turns of a second.
 */
import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks";
import { map, type Observable, using } from "rxjs";
import { type CollectionPause, type LoopStall, stallsOf } from "../core/telemetry/loopStalls.ts";
import { eachOf } from "../operators/eachOf.ts";
import { longTimer } from "../operators/longTimer.ts";
import { watchStages } from "../operators/loopStage.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Clock } from "../ports/clock.ts";
import { atTurnEnd } from "./systemClock.ts";
import { TurnWatch } from "./turnWatch.ts";

const LOOK_MS = 1_000;
/** Node reports a garbage collection two iterations of the event loop later. */
const REPORT_MS = 20;
/** Stalls outside stages are always found if they last longer than STALL_MS plus this, shorter ones by chance. */
const RESOLUTION_MS = 25;
/** Shorter pauses cannot explain a stall. */
const MIN_PAUSE_MS = 5;
const MAX_PAUSES = 256;
/** Time for loading modules, during which a stall outside stages is expected. */
const START_MS = 10_000;

/**
 * Emits each stall with its cause, within about a second.
 *
 *     stalls         ---x--------xx------
 *     loopStalls     ------x---------(xx)
 *
 * Cancels: the watch of stages and both observers. Errors: none. Bound: see the file header.
 */
export const loopStalls = (clock: Clock, startMs = START_MS): Observable<LoopStall> =>
  using(
    () => openWatch(clock, startMs),
    (opened) => {
      const watch = opened as OpenWatch;
      const look = () => longTimer(clock, REPORT_MS).pipe(map(() => watch.look()));
      return pollAfter(clock, LOOK_MS, look, { immediately: false }).pipe(eachOf((stalls) => stalls));
    },
  );

interface OpenWatch {
  look(): readonly LoopStall[];
  unsubscribe(): void;
}

function openWatch(clock: Clock, startMs: number): OpenWatch {
  const startedAt = clock.monotonicMs();
  const turns = new TurnWatch({ nowMs: () => clock.monotonicMs(), atTurnEnd });
  const unwatch = watchStages(turns);
  const sampler = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  sampler.enable();
  let pauses: CollectionPause[] = [];
  let cpuBefore = process.threadCpuUsage();
  const observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      if (duration < MIN_PAUSE_MS || pauses.length >= MAX_PAUSES) continue;
      pauses.push({ startMs: startTime, durationMs: duration });
    }
  });
  observer.observe({ entryTypes: ["gc"] });
  return {
    look: () => {
      const lagMs = sampler.count === 0 ? 0 : sampler.max / 1e6 - RESOLUTION_MS;
      sampler.reset();
      const collections = pauses;
      pauses = [];
      const { user, system } = process.threadCpuUsage(cpuBefore);
      cpuBefore = process.threadCpuUsage();
      const cpuMs = (user + system) / 1_000;
      const isStarting = clock.monotonicMs() - startedAt < startMs;
      return stallsOf({ turns: turns.take(), collections, lagMs, cpuMs, isStarting });
    },
    unsubscribe: () => {
      observer.disconnect();
      sampler.disable();
      unwatch();
    },
  };
}
