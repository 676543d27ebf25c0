/**
 * The way of a simulated rpc: half of its time on the way there, then its effect at one instant, the rest on the way
 * back; a deadline over all. `intercept` is where faults come in.
 */
import {
  catchError,
  concat,
  concatMap,
  defer,
  ignoreElements,
  NEVER,
  Observable,
  of,
  type Subscription,
  throwError,
} from "rxjs";
import { type CriRpc, criDeadlineMs } from "../core/criOperations.ts";
import { type KubeletError, kubeletError } from "../core/errors.ts";
import { deadline } from "../operators/deadline.ts";
import { longTimer } from "../operators/longTimer.ts";
import type { Call, CallOptions } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";

/** What happens to one request. */
export type SimAction =
  | { readonly kind: "proceed" }
  /** Takes so much longer before its effect. */
  | { readonly kind: "delay"; readonly ms: number }
  /** Answers this error; nothing happened. */
  | { readonly kind: "fail"; readonly error: KubeletError }
  /** It happens, but the answer is this error. */
  | { readonly kind: "loseReply"; readonly error: KubeletError }
  /** Never answers; nothing happens. */
  | { readonly kind: "hang" };

/** Decides over each request when it is made. Rpc names as the protocol spells them, for example `RunPodSandbox`. */
export type SimIntercept = (rpc: CriRpc, request: unknown) => SimAction;

/**
 * Whether a request goes on when its caller leaves (gives up, or dies) before the answer; asked at that instant. What
 * was on its way then takes effect later, as it may with a real runtime.
 */
export type SimAbandon = (rpc: CriRpc, request: unknown) => boolean;

/** Milliseconds one request takes on its way there and back, beside what it waits for on purpose. */
export type SimLatency = (rpc: CriRpc) => number;

/** What every rpc needs. */
export interface SimCallSettings {
  readonly clock: Clock;
  readonly latency: SimLatency;
  readonly intercept: SimIntercept;
  readonly goesOn: SimAbandon;
  /** Emits when the runtime's process ends: what every request under way is answered with. */
  readonly died$: Observable<KubeletError>;
  /** Deadline of ordinary calls in milliseconds. */
  readonly defaultDeadlineMs: number;
}

/** Makes a method of a service port from what the rpc does. */
export type SimUnary = <Request, Response>(
  rpc: CriRpc,
  effect: (request: Request) => Call<Response>,
) => (request: Request, options?: CallOptions) => Call<Response>;

/**
 * The maker of unary rpcs. Unsubscribing before the effect prevents it, unless `goesOn` says otherwise; later it only
 * loses the answer.
 */
export function simUnary(settings: SimCallSettings): SimUnary {
  const { clock, latency, intercept, goesOn, died$, defaultDeadlineMs } = settings;
  const wait = (ms: number): Observable<never> => longTimer(clock, ms).pipe(ignoreElements());
  return (rpc, effect) => (request, options) =>
    defer(() => {
      const action = intercept(rpc, request);
      const wholeMs = latency(rpc);
      const backMs = Math.floor(wholeMs / 2);
      const thereMs = wholeMs - backMs + (action.kind === "delay" ? action.ms : 0);
      const happen = (): ReturnType<typeof effect> => {
        switch (action.kind) {
          case "hang":
            return NEVER;
          case "fail":
            return throwError(() => action.error);
          case "loseReply":
            return concat(
              effect(request).pipe(ignoreElements()),
              throwError(() => action.error),
            );
          case "proceed":
          case "delay":
            return effect(request);
        }
      };
      const deadlineMs = options?.deadlineMs ?? criDeadlineMs(rpc, request, defaultDeadlineMs) ?? Infinity;
      return concat(wait(thereMs), defer(happen)).pipe(
        concatMap((response) => concat(wait(backMs), of(response))),
        catchError((thrown: unknown) =>
          concat(
            wait(backMs),
            throwError(() => thrown),
          ),
        ),
        untilDeath(died$),
        leftAlone(() => goesOn(rpc, request)),
        deadline(deadlineMs, clock, () =>
          kubeletError("DeadlineExceeded", `${rpc}: no answer within ${deadlineMs} ms`),
        ),
      );
    });
}

/** A call that fails, and has no more effect, when the runtime's process ends. */
const untilDeath =
  (died$: Observable<KubeletError>) =>
  <T>(call: Call<T>): Call<T> =>
    new Observable<T>((caller) => {
      caller.add(
        died$.subscribe({
          next: (error) => caller.error(error),
          error: (thrown: unknown) => caller.error(thrown),
          complete: () => {},
        }),
      );
      caller.add(call.subscribe(caller));
    });

/** A call that decides for itself, when its caller leaves, whether it goes on alone. */
const leftAlone =
  (goesOn: () => boolean) =>
  <T>(call: Call<T>): Call<T> =>
    new Observable<T>((caller) => {
      let ended = false;
      // Not the caller's own subscriber: that would end the call with it.
      const inner: Subscription = call.subscribe({
        next: (value) => caller.next(value),
        error: (thrown: unknown) => {
          ended = true;
          caller.error(thrown);
        },
        complete: () => {
          ended = true;
          caller.complete();
        },
      });
      return () => {
        if (ended || !goesOn()) inner.unsubscribe();
      };
    });

/** An effect that happens at once; what it throws becomes the call's error. */
export const atOnce = <T>(effect: () => T): Call<T> => defer(() => of(effect()));

/** A wait, then a value. */
export const after = <T>(waited$: Observable<unknown>, value: () => T): Call<T> =>
  concat(
    waited$.pipe(ignoreElements()),
    defer(() => of(value())),
  );

/** A method the runtime does not have. */
export const unimplemented =
  (rpc: CriRpc) =>
  (_request: unknown): Observable<never> =>
    throwError(() => kubeletError("Unimplemented", `unknown method ${rpc} for service runtime.v1`));
