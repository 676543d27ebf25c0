/**
 * Stalls of this process's event loop. Entry points name their work (operators/loopStage.ts), the platform's sampler
 * notices stalls of unnamed work, an observer the pauses of the garbage collector. One look a second judges them
 * together. Owns the watch of stages while subscribed. Bounds: MAX_PAUSES, and the turns of a second.
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
/** The platform tells of a pause of the collector two rounds of the event loop later. */
const REPORT_MS = 20;
/** Stalls longer than STALL_MS and this are always noticed, shorter ones of unnamed work by chance. */
const RESOLUTION_MS = 25;
/** Shorter pauses explain nothing. */
const MIN_PAUSE_MS = 5;
const MAX_PAUSES = 256;
/** Loading modules is no work of a stage. */
const START_MS = 10_000;

/**
 * Emits each stall with its cause, within about a second.
 *
 *     stalls         ---x--------xx------
 *     loopStalls     ------x---------(xx)
 *
 * Cancels: no stage is watched any more. Errors: none. Bound: see above.
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
