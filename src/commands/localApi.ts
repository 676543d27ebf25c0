/** The read-only API that lets kubectl show a standalone node. */
import type { Observable } from "rxjs";
import type { CountedEvent } from "../core/apiEvent.ts";
import type { Kubelet } from "../kubelet.ts";
import type { LocalApiOptions } from "../server/localApi/localApi.ts";
import { createEventObjects } from "../sources/localObjects/eventObjects.ts";
import { createLocalObjects, LOCAL_RESOURCES } from "../sources/localObjects/localObjects.ts";
import { systemClock } from "../sources/systemClock.ts";

export interface LocalApi {
  /** The sink of the node's events. */
  storeEvents(events$: Observable<CountedEvent>): Observable<never>;
  /** Options of the kubelet server for this API. */
  of(kubelet: Pick<Kubelet, "queries" | "podsChanged$">): LocalApiOptions;
}

/** Creates the API of a node; `writeHint` is the advice in responses to writes. */
export function createLocalApi(nodeName: string, writeHint: string): LocalApi {
  const events = createEventObjects(nodeName, systemClock);
  return {
    storeEvents: (events$) => events.store(events$),
    of: ({ queries, podsChanged$ }) => ({
      objects: createLocalObjects({ queries, podsChanged$, events, clock: systemClock }),
      resources: LOCAL_RESOURCES,
      writeHint,
    }),
  };
}
