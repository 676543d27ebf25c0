/** An API server's face for a node that has none, so that kubectl can look at it. */
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

/** Makes it for a node; `writeHint` tells clients how to change what they cannot write. */
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
