/**
 * The way of a simulated rpc: half of its time on the way there, then its effect at one instant, the rest on the way
 * back; a deadline over all. `intercept` is where faults come in.
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
 * loses the answer. One Observable with plain actions of the scheduler: calls are most of what a simulation does.
 */
export function simUnary(settings: SimCallSettings): SimUnary {
  const { clock, latency, intercept, goesOn, died$, defaultDeadlineMs } = settings;
  /** What ends each request under way when the runtime does, in the order they were made. */
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
        // Nearly all are answered as they arrive: a timer for each of them would be most of what is pending.
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

/** What the end of the runtime ends. */
interface Mortal {
  die(error: unknown): void;
}

interface WayOptions<Response> {
  readonly open: Set<Mortal>;
  readonly backMs: number;
  readonly happen: () => Observable<Response>;
  /** It has arrived, and the answer takes a while. */
  readonly waits: () => void;
}

/** A request on its way there, then its answer on its way back with the same action; closed once that is told. */
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

/** The effect of a request; what it throws becomes the call's error. */
function called<Request, Response>(effect: (request: Request) => Call<Response>, request: Request): Call<Response> {
  try {
    return effect(request);
  } catch (thrown) {
    return throwError(() => thrown);
  }
}

/** What becomes of a request when it has arrived: a call, whose effect emits one value, or a watch. */
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

/** An effect that happens at once; what it throws becomes the call's error. */
export const atOnce = <T>(effect: () => T): Call<T> => new Observable((caller) => settle(caller, effect));

/** An effect that happens `ms` later, at one instant. Unsubscribing before prevents it. */
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
