/** Requests that wait for an answer of the API server: so many of one client at a time, and so many of all. */
import { defer, finalize, throwError } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import type { Call } from "../../ports/call.ts";

/** Waits at a time. */
export interface ParkingBounds {
  readonly max: number;
  readonly maxOfClient: number;
}

/** Makes a call wait in the place of a client. Errors: ResourceExhausted, at once, when there is no place. */
export type Park = <T>(client: string, call$: Call<T>) => Call<T>;

/** No call waits yet. Cancels: a call that is given up leaves its place. */
export function parkedCalls({ max, maxOfClient }: ParkingBounds): Park {
  const ofClients = new Map<string, number>();
  let all = 0;
  const change = (client: string, by: number): void => {
    const count = (ofClients.get(client) ?? 0) + by;
    all += by;
    if (count === 0) ofClients.delete(client);
    else ofClients.set(client, count);
  };
  return (client, call$) =>
    defer(() => {
      if (all >= max || (ofClients.get(client) ?? 0) >= maxOfClient) {
        return throwError(() => kubeletError("ResourceExhausted", "too many requests wait for the API server"));
      }
      change(client, 1);
      return call$.pipe(finalize(() => change(client, -1)));
    });
}
