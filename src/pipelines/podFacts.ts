/** What a pod worker tells the pod's timeline beside events and statuses: its stages, rounds and what is held back. */
import { map, merge, type Observable, skip } from "rxjs";
import type { PodUid } from "../core/ids.ts";
import type { ContainerFailure } from "../core/timeline/timelineTypes.ts";
import { failuresAt, type PodMemory } from "./podMemory.ts";
import type { PodOutput } from "./podOutputs.ts";

/** Facts of one worker as its outputs. Endless, as the cell behind it. */
export function podFacts(uid: PodUid, memory: PodMemory): Observable<PodOutput> {
  const { facts, failures } = memory;
  const held$ = failures.changes$.pipe(
    skip(1),
    map((): PodOutput => {
      const told = failuresAt(memory).map(([name, { error, retryAt }]): readonly [string, ContainerFailure] => {
        return [name, { reason: error.reason, message: error.message, retryAt }];
      });
      return { kind: "fact", uid, fact: { kind: "failures", failures: new Map(told) } };
    }),
  );
  return merge(facts.pipe(map((fact): PodOutput => ({ kind: "fact", uid, fact }))), held$);
}
