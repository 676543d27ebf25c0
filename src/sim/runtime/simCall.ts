/**
 * The course of a simulated rpc: half of its latency, then its effect at one instant, then the other half; one
 * deadline covers all. `intercept` decides the fault of each request (faults/callFaults.ts).
 */
import {
  concat,
  defer,
  ignoreElements,
  NEVER,
  Observable,
  type Observer,
  of,
  type SchedulerAction,
  type Subscriber,
  Subscription,
  throwError,
} from "rxjs";
import { type CriRpc, criDeadlineMs } from "../../core/criOperations.ts";
import { type KubeletError, kubeletError } from "../../core/errors.ts";
import type { Call, CallOptions } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";

/** The outcome of one request. */
export type SimAction =
  | { readonly kind: "proceed" }
  /** Delays the effect by this long. */
  | { readonly kind: "delay"; readonly ms: number }
  /** Returns this error without any effect. */
  | { readonly kind: "fail"; readonly error: KubeletError }
  /** Takes effect, but returns this error. */
  | { readonly kind: "loseReply"; readonly error: KubeletError }
  /** Never answers and has no effect. */
  | { readonly kind: "hang" };

/** Decides the outcome of each request when it is sent. Rpc names as in the protocol, for example `RunPodSandbox`. */
export type SimIntercept = (rpc: CriRpc, request: unknown) => SimAction;

/**
 * Returns whether a request continues when its caller cancels or crashes before the answer; called at that instant. A
 * request in flight then takes effect later, as it may with a real runtime.
 */
export type SimAbandon = (rpc: CriRpc, request: unknown) => boolean;

/** Returns the network latency of one request, both ways, in milliseconds; excludes deliberate waits. */
export type SimLatency = (rpc: CriRpc) => number;

/** Dependencies of every rpc. */
export interface SimCallSettings {
  readonly clock: Clock;
  readonly latency: SimLatency;
  readonly intercept: SimIntercept;
  readonly goesOn: SimAbandon;
  /** Emits when the runtime's process ends; every request in flight fails with this error. */
  readonly died$: Observable<KubeletError>;
  /** Deadline of ordinary calls in milliseconds. */
  readonly defaultDeadlineMs: number;
}

/** Creates a method of a service port from the effect of the rpc. */
export type SimUnary = <Request, Response>(
  rpc: CriRpc,
  effect: (request: Request) => Call<Response>,
) => (request: Request, options?: CallOptions) => Call<Response>;

/**
 * Creates unary rpcs. Unsubscribing before the effect prevents it, unless `goesOn` returns true; unsubscribing later
 * only loses the answer. Each rpc is one Observable with plain scheduler actions, because calls are most of the work
 * of a simulation.
 */
export function simUnary(settings: SimCallSettings): SimUnary {
  const { clock, latency, intercept, goesOn, died$, defaultDeadlineMs } = settings;
  /** Requests in flight, which end with the runtime, in the order they were sent. */
  const open = new Set<Mortal>();
  const endAll = (error: unknown): void => {
    for (const each of [...open]) if (open.has(each)) each.die(error);
  };
  died$.subscribe({ next: endAll, error: endAll, complete: () => {} });
  return <Request, Response>(rpc: CriRpc, effect: (request: Request) => Call<Response>) =>
    (request: Request, options?: CallOptions) =>
      new Observable<Response>((caller) => {
        const action = intercept(rpc, request);
        const wholeMs = latency(rpc);
        const backMs = Math.floor(wholeMs / 2);
        const thereMs = wholeMs - backMs + (action.kind === "delay" ? action.ms : 0);
        const happen = (): Observable<Response> => outcome(action, () => called(effect, request));
        const deadlineMs = options?.deadlineMs ?? criDeadlineMs(rpc, request, defaultDeadlineMs) ?? Infinity;
        const expireIn = (ms: number): void => {
          const expire = (): void =>
            caller.error(kubeletError("DeadlineExceeded", `${rpc}: no answer within ${deadlineMs} ms`));
          if (ms < Infinity) caller.add(clock.scheduler.schedule(expire, ms));
        };
        // Nearly all requests are answered at the effect: deadline timers for each of them would dominate the heap.
        const isInTime = thereMs + backMs < deadlineMs;
        const waits = (): void => (isInTime ? expireIn(deadlineMs - thereMs) : undefined);
        const way = new Way(caller, { open, backMs, happen, waits });
        way.add(clock.scheduler.schedule(arrive, thereMs, way));
        if (!isInTime) expireIn(deadlineMs);
        return () => {
          if (!way.closed && !goesOn(rpc, request)) way.unsubscribe();
        };
      });
}

/** Requests that end with the runtime. */
interface Mortal {
  die(error: unknown): void;
}

interface WayOptions<Response> {
  readonly open: Set<Mortal>;
  readonly backMs: number;
  readonly happen: () => Observable<Response>;
  /** The request has arrived; its answer is delayed. */
  readonly waits: () => void;
}

/** A request and then its answer, in one scheduler action; closed after the answer is delivered. */
class Way<Response> extends Subscription implements Observer<Response>, Mortal {
  private readonly caller: Subscriber<Response>;
  private readonly options: WayOptions<Response>;
  private action: SchedulerAction<Way<Response>> | undefined;
  private answer: { readonly value: Response } | { readonly thrown: unknown } | undefined;

  constructor(caller: Subscriber<Response>, options: WayOptions<Response>) {
    super();
    this.caller = caller;
    this.options = options;
    options.open.add(this);
  }

  override unsubscribe(): void {
    this.options.open.delete(this);
    super.unsubscribe();
  }

  arrived(action: SchedulerAction<Way<Response>>): void {
    if (this.answer === undefined) {
      this.action = action;
      this.add(this.options.happen().subscribe(this));
      if (!this.isAnswered()) this.options.waits();
      return;
    }
    this.unsubscribe();
    if ("thrown" in this.answer) {
      this.caller.error(this.answer.thrown);
      return;
    }
    this.caller.next(this.answer.value);
    this.caller.complete();
  }

  next(value: Response): void {
    this.goBack({ value });
  }

  error(thrown: unknown): void {
    this.goBack({ thrown });
  }

  complete(): void {}

  die(error: unknown): void {
    this.unsubscribe();
    this.caller.error(error);
  }

  private isAnswered(): boolean {
    return this.answer !== undefined;
  }

  private goBack(answer: NonNullable<Way<Response>["answer"]>): void {
    this.answer = answer;
    this.action?.schedule(this, this.options.backMs);
  }
}

function arrive<Response>(this: SchedulerAction<Way<Response>>, way?: Way<Response>): void {
  way?.arrived(this);
}

/** Runs the effect of a request; an error it throws becomes the call's error. */
function called<Request, Response>(effect: (request: Request) => Call<Response>, request: Request): Call<Response> {
  try {
    return effect(request);
  } catch (thrown) {
    return throwError(() => thrown);
  }
}

/** The effect of an arrived request: a call, which emits one value, or a watch. */
export function outcome<T>(action: SimAction, effect: () => Observable<T>): Observable<T> {
  switch (action.kind) {
    case "hang":
      return NEVER;
    case "fail":
      return throwError(() => action.error);
    case "loseReply":
      return concat(
        effect().pipe(ignoreElements()),
        throwError(() => action.error),
      );
    case "proceed":
    case "delay":
      return effect();
  }
}

/** Creates an immediate effect; an error it throws becomes the call's error. */
export const atOnce = <T>(effect: () => T): Call<T> => new Observable((caller) => settle(caller, effect));

/** Creates an effect after `ms`, at one instant. Unsubscribing earlier prevents it. */
export const later = <T>(clock: Clock, ms: number, effect: () => T): Call<T> =>
  new Observable((caller) => clock.scheduler.schedule(() => settle(caller, effect), ms));

function settle<T>(caller: Subscriber<T>, effect: () => T): void {
  let value: T;
  try {
    value = effect();
  } catch (thrown) {
    caller.error(thrown);
    return;
  }
  caller.next(value);
  caller.complete();
}

/** Emits a value after a delay. */
export const after = <T>(waited$: Observable<unknown>, value: () => T): Call<T> =>
  concat(
    waited$.pipe(ignoreElements()),
    defer(() => of(value())),
  );

/** Creates a method that the runtime does not implement. */
export const unimplemented =
  (rpc: CriRpc) =>
  (_request: unknown): Observable<never> =>
    throwError(() => kubeletError("Unimplemented", `unknown method ${rpc} for service runtime.v1`));
