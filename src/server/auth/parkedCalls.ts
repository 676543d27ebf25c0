/** Bounds the requests that wait for an answer of the API server, per client and in total. */
import { defer, Observable, type Subscriber, throwError } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import type { Call } from "../../ports/call.ts";

/** Maximum number of waiting calls, in total and per client. */
export interface ParkingBounds {
  readonly max: number;
  readonly maxOfClient: number;
}

/** Tracks the waiting calls. */
export interface Parking {
  /**
   * Runs a call and counts it for `client` until it ends. Errors: ResourceExhausted, immediately, if a bound is
   * reached.
   */
  park<T>(client: string, call$: Call<T>): Call<T>;
  /** Fails all waiting calls with ResourceExhausted and returns their number. */
  refuseAll(): number;
}

const refusal = (why: string) => kubeletError("ResourceExhausted", why);

/** Creates a Parking without calls. Cancels: an unsubscribed call is no longer counted. */
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
      for (const subscriber of refused) subscriber.error(refusal("not enough memory for requests that wait"));
      return refused.length;
    },
  };
}
