import { concat, map, mergeMap, of, timer } from "rxjs";
import type { Pod } from "../../../src/core/api.ts";
import type { PodSource } from "../../../src/core/pod/sourceSnapshot.ts";
import { noFaults } from "../../../src/sim/faults/faultKinds.ts";
import { withPorts, type Mutant } from "./mutant.ts";

const LATE_MS = 3_000;

/** Keeps pods desired for seconds after their source dropped them. */
export const lateFarewells: Mutant = {
  bug: "a pod that replaces others is rejected because the terminating pods still count",
  caughtBy: "resourcesAreAwaited",
  faults: { ...noFaults(), roomTaken: 60 },
  createKubelet: withPorts(({ snapshots$, clock }) => {
    const last = new Map<PodSource, readonly Pod[]>();
    return {
      snapshots$: snapshots$.pipe(
        mergeMap((snapshot) => {
          const { source, pods } = snapshot;
          const uids = new Set(pods.map(({ metadata }) => metadata.uid));
          const gone = (last.get(source) ?? []).filter(({ metadata }) => !uids.has(metadata.uid));
          last.set(source, pods);
          if (gone.length === 0) return of(snapshot);
          const late$ = timer(LATE_MS, clock.scheduler).pipe(
            map(() => ({ ...snapshot, pods: last.get(source) ?? pods })),
          );
          return concat(of({ ...snapshot, pods: [...pods, ...gone] }), late$);
        }),
      ),
    };
  }),
};
