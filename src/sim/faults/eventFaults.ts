/** Faults of the runtime's event stream: events that are lost, duplicated, or reordered. */
import { delay, EMPTY, mergeMap, type Observable, of } from "rxjs";
import type { ContainerEventResponse } from "../../gen/cri.ts";
import type { Clock } from "../../ports/clock.ts";
import type { RuntimeService } from "../../ports/cri.ts";
import type { FaultDice } from "./faultDice.ts";

const LATEST_MS = 60_000;

/** Wraps a runtime so that its event stream loses, repeats or delays events. */
export function withEventFaults(runtime: RuntimeService, dice: FaultDice, clock: Clock): RuntimeService {
  const seen = new Map<string, number>();
  const passedOn = (event: ContainerEventResponse): Observable<ContainerEventResponse> => {
    const { namespace, name } = event.podSandboxStatus?.metadata ?? { namespace: "", name: "" };
    const what = `${namespace}/${name} ${event.containerEventType}`;
    const count = (seen.get(what) ?? 0) + 1;
    seen.set(what, count);
    const fault = dice.roll(["eventLost", "eventTwice", "eventLate"], `${what} ${count}`);
    switch (fault?.kind) {
      case "eventLost":
        return EMPTY;
      case "eventTwice":
        return of(event, event);
      case "eventLate":
        return of(event).pipe(delay(fault.prng.int(1, LATEST_MS), clock.scheduler));
      default:
        return of(event);
    }
  };
  return {
    ...runtime,
    getContainerEvents: (request) => runtime.getContainerEvents(request).pipe(mergeMap(passedOn)),
  };
}
