/**
 * The way of a simulated API request: half of its time on the way there, then its effect at one instant, the rest on
 * the way back; a deadline over all. `intercept` is where faults come in, the network where outages do.
 */
import { catchError, concat, concatMap, defer, ignoreElements, NEVER, type Observable, of, throwError } from "rxjs";
import type { ApiResourceName } from "../../core/api/apiResources.ts";
import { isKubeletError, kubeletError } from "../../core/errors.ts";
import { deadline } from "../../operators/deadline.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { Call, CallOptions } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import { outcome, type SimAction } from "../simCall.ts";
import type { ApiIdentity } from "./identity.ts";
import type { Network } from "./network.ts";
import type { ApiAttributes, ApiVerb } from "./nodeAuthorizer.ts";
import { connectionLost, connectionRefused } from "./refusals.ts";

/** One request, as the interceptor sees it. */
export interface SimApiRequest extends ApiAttributes {
  readonly identity: ApiIdentity;
  /** What was sent: the object, the patch, the options of a deletion. */
  readonly body: unknown;
}

/** Decides over each request when it is made. */
export type SimApiIntercept = (verb: ApiVerb, resource: ApiResourceName, request: SimApiRequest) => SimAction;

/** Milliseconds one request takes there and back. */
export type SimApiLatency = (verb: ApiVerb, resource: ApiResourceName) => number;

export interface ApiCallSettings {
  readonly clock: Clock;
  readonly network: Network;
  readonly latency: SimApiLatency;
  readonly intercept: SimApiIntercept;
  readonly defaultDeadlineMs: number;
}

/** Whether the server said it, rather than the network. */
const hasStatus = (thrown: unknown): boolean => isKubeletError(thrown) && thrown.cause !== undefined;

/** What a request meets on the network at this instant. */
function crossing<T>(network: Network, otherwise: () => Observable<T>, refused: () => unknown): Observable<T> {
  switch (network.state) {
    case "up":
      return otherwise();
    case "refused":
      return throwError(refused);
    case "silent":
      return NEVER;
  }
}

/** What becomes of a request on its way to its effect; shared by calls and watches. */
export function apiRequest<T>(
  { clock, network, latency, intercept }: ApiCallSettings,
  request: SimApiRequest,
  effect: () => Observable<T>,
): Observable<T> {
  const wait = (ms: number): Observable<never> => longTimer(clock, ms).pipe(ignoreElements());
  return defer(() => {
    const action = intercept(request.verb, request.resource, request);
    const thereMs = Math.ceil(latency(request.verb, request.resource) / 2) + (action.kind === "delay" ? action.ms : 0);
    const happen = (): Observable<T> => outcome(action, effect);
    return crossing(
      network,
      () =>
        concat(
          wait(thereMs),
          defer(() => crossing(network, happen, connectionRefused)),
        ),
      connectionRefused,
    );
  });
}

/** A request with one answer. Unsubscribing before the effect prevents it; later it only loses the answer. */
export function apiCall<T>(
  settings: ApiCallSettings,
  request: SimApiRequest,
  effect: () => T,
  options: CallOptions | undefined,
): Call<T> {
  const { clock, network, latency, defaultDeadlineMs } = settings;
  const deadlineMs = options?.deadlineMs ?? defaultDeadlineMs;
  const { verb, resource } = request;
  return defer(() => {
    const backMs = Math.floor(latency(verb, resource) / 2);
    const back = <A>(answer: () => Observable<A>, lost: () => unknown = connectionLost): Observable<A> =>
      concat(
        longTimer(clock, backMs).pipe(ignoreElements()),
        defer(() => crossing(network, answer, lost)),
      );
    return apiRequest(settings, request, () => defer(() => of(effect()))).pipe(
      concatMap((answer) => back(() => of(answer))),
      catchError((thrown: unknown) =>
        back(
          () => throwError(() => thrown),
          () => (hasStatus(thrown) ? connectionLost() : thrown),
        ),
      ),
      deadline(deadlineMs, clock, () =>
        kubeletError("DeadlineExceeded", `${verb} ${resource}: no answer within ${deadlineMs} ms`),
      ),
    );
  });
}
