/** Requests that wait for an answer of the API server: so many of one client at a time, and so many of all. */
import { defer, Observable, type Subscriber, throwError } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import type { Call } from "../../ports/call.ts";

/** Waits at a time. */
export interface ParkingBounds {
  readonly max: number;
  readonly maxOfClient: number;
}

/** The places of calls that wait. */
export interface Parking {
  /** Makes a call wait in the place of a client. Errors: ResourceExhausted, at once, when there is no place. */
  park<T>(client: string, call$: Call<T>): Call<T>;
  /** Refuses all calls that wait, as if there were no place. Returns how many there were. */
  refuseAll(): number;
}

const refusal = (why: string) => kubeletError("ResourceExhausted", why);

/** No call waits yet. Cancels: a call that is given up leaves its place. */
export function parkedCalls({ max, maxOfClient }: ParkingBounds): Parking {
  const ofClients = new Map<string, number>();
  const waiting = new Set<Subscriber<never>>();
  const change = (client: string, by: number): void => {
    const count = (ofClients.get(client) ?? 0) + by;
    if (count === 0) ofClients.delete(client);
    else ofClients.set(client, count);
  };
  const inPlace = <T>(client: string, call$: Call<T>): Call<T> =>
    new Observable<T>((subscriber) => {
      const place = subscriber as Subscriber<never>;
      waiting.add(place);
      change(client, 1);
      subscriber.add(() => {
        waiting.delete(place);
        change(client, -1);
      });
      subscriber.add(call$.subscribe(subscriber));
    });
  return {
    park: (client, call$) =>
      defer(() =>
        waiting.size >= max || (ofClients.get(client) ?? 0) >= maxOfClient
          ? throwError(() => refusal("too many requests wait for the API server"))
          : inPlace(client, call$),
      ),
    refuseAll: () => {
      const refused = [...waiting];
      for (const subscriber of refused) subscriber.error(refusal("there is too little memory to wait"));
      return refused.length;
    },
  };
}
