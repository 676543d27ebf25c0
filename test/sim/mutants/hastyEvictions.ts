import { tap } from "rxjs";
import { monotonicMs } from "../../../src/core/ids.ts";
import { type Mutant, shortOfResources, withPorts } from "./mutant.ts";

/** More than the eviction manager waits for an evicted pod. */
const WAIT_MS = 45_000;

/** Waits for no evicted pod before it looks for the next one: a moment after each eviction, the clock jumps ahead. */
export const hastyEvictions: Mutant = {
  bug: "a pod is evicted while the last evicted pod still stops",
  caughtBy: "oneEvictionAtATime",
  seed: 2,
  pods: 16,
  faults: { ...shortOfResources(), unkillable: 0.5 },
  createKubelet: withPorts(({ clock, recordEvents }) => {
    const { scheduler } = clock;
    let aheadMs = 0;
    return {
      clock: {
        scheduler,
        monotonicMs: () => monotonicMs(clock.monotonicMs() + aheadMs),
        wallTime: () => clock.wallTime(),
      },
      recordEvents: (events$) =>
        recordEvents(
          events$.pipe(
            tap(({ reason }) => {
              if (reason === "Evicted") scheduler.schedule(() => (aheadMs += WAIT_MS), 1);
            }),
          ),
        ),
    };
  }),
};
