/**
 * The way of a simulated API request: half of its latency on the way to the server, then its effect at one instant,
 * the rest on the way back, with a deadline over all. Faults enter through `intercept`, outages through the network.
 */
import { Observable } from "rxjs";
import type { ApiResourceName } from "../../core/api/apiResources.ts";
import { isKubeletError, kubeletError } from "../../core/errors.ts";
import type { Call, CallOptions } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import { atOnce, outcome, type SimAction } from "../runtime/simCall.ts";
import type { ApiIdentity } from "./identity.ts";
import type { Network } from "./network.ts";
import type { ApiAttributes, ApiVerb } from "./nodeAuthorizer.ts";
import { connectionLost, connectionRefused } from "../../core/apiObjects/refusals.ts";

/** A request as the interceptor sees it. */
export interface SimApiRequest extends ApiAttributes {
  readonly identity: ApiIdentity;
  /** The body of the request: the object, the patch, or the options of a deletion. */
  readonly body: unknown;
}

/** Decides the fate of each request when it is made. */
export type SimApiIntercept = (verb: ApiVerb, resource: ApiResourceName, request: SimApiRequest) => SimAction;

/** Returns the milliseconds of a round trip of a request. */
export type SimApiLatency = (verb: ApiVerb, resource: ApiResourceName) => number;

export interface ApiCallSettings {
  readonly clock: Clock;
  readonly network: Network;
  readonly latency: SimApiLatency;
  readonly intercept: SimApiIntercept;
  readonly defaultDeadlineMs: number;
}

/** Whether the error is an answer of the server and not one of the network. */
const hasStatus = (thrown: unknown): boolean => isKubeletError(thrown) && thrown.cause !== undefined;

/**
 * Carries a request to its effect; shared by calls and watches. A single Observable with plain scheduler actions,
 * like the RPCs of the runtime.
 */
export function apiRequest<T>(
  { clock, network, latency, intercept }: ApiCallSettings,
  request: SimApiRequest,
  effect: () => Observable<T>,
): Observable<T> {
  return new Observable<T>((caller) => {
    const action = intercept(request.verb, request.resource, request);
    const thereMs = Math.ceil(latency(request.verb, request.resource) / 2) + (action.kind === "delay" ? action.ms : 0);
    const refuse = (): void => caller.error(connectionRefused());
    const happen = (): unknown => outcome(action, effect).subscribe(caller);
    cross(network, () => caller.add(clock.scheduler.schedule(() => cross(network, happen, refuse), thereMs)), refuse);
  });
}

/**
 * Delivers a request or its answer, or refuses it, by the state of the network at this instant. A silent network
 * loses it.
 */
function cross({ state }: Network, arrive: () => unknown, refuse: () => void): void {
  if (state === "up") arrive();
  if (state === "refused") refuse();
}

/** Makes a request with one answer. Unsubscribing before the effect prevents it; later it only loses the answer. */
export function apiCall<T>(
  settings: ApiCallSettings,
  request: SimApiRequest,
  effect: () => T,
  options: CallOptions | undefined,
): Call<T> {
  const { clock, network, latency, defaultDeadlineMs } = settings;
  const deadlineMs = options?.deadlineMs ?? defaultDeadlineMs;
  const { verb, resource } = request;
  return new Observable<T>((caller) => {
    const backMs = Math.floor(latency(verb, resource) / 2);
    const back = (deliver: () => void, lost: () => unknown): void => {
      const arrive = (): void => cross(network, deliver, () => caller.error(lost()));
      caller.add(clock.scheduler.schedule(arrive, backMs));
    };
    const answer = (value: T): void =>
      back(() => {
        caller.next(value);
        caller.complete();
      }, connectionLost);
    const fail = (thrown: unknown): void =>
      back(
        () => caller.error(thrown),
        () => (hasStatus(thrown) ? connectionLost() : thrown),
      );
    const there$ = apiRequest(settings, request, () => atOnce(effect));
    caller.add(there$.subscribe({ next: answer, error: fail, complete: () => {} }));
    const expire = (): void =>
      caller.error(kubeletError("DeadlineExceeded", `${verb} ${resource}: no answer within ${deadlineMs} ms`));
    caller.add(clock.scheduler.schedule(expire, deadlineMs));
  });
}
