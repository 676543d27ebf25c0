/**
 * The login manager of a simulated machine. Owns the state of a shutdown: it is delayed while a program holds a lock, at
 * most for the longest delay. Calls are answered at once.
 */
import { BehaviorSubject, defer, Observable, of, type Subscription } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logind } from "../../ports/logind.ts";

export interface SimLogindOptions {
  readonly clock: Clock;
  /** Longest delay of a shutdown at first; default 5 s, that of systemd. */
  readonly delayMs?: number;
  /** Called when the machine goes down. */
  goDown(): void;
}

export interface SimLogind {
  readonly port: Logind;
  /** Whether a shutdown is under way. */
  readonly isShuttingDown: boolean;
  /** Locks that programs hold. */
  readonly locks: number;
  /** Longest delay of a shutdown in milliseconds. */
  readonly delayMs: number;
  /** Begins a shutdown, unless one is under way. */
  begin(): void;
  /** Cancels the shutdown; returns whether one was under way. */
  cancel(): boolean;
}

const DEFAULT_DELAY_MS = 5_000;
const MS_PER_SECOND = 1_000;

/** Creates the login manager of a machine that runs. */
export function createSimLogind({ clock, delayMs: first = DEFAULT_DELAY_MS, goDown }: SimLogindOptions): SimLogind {
  const shuttingDown = new BehaviorSubject(false);
  let [delayMs, written] = [first, first];
  let locks = 0;
  let latest: Subscription | undefined;
  const stop = (): void => {
    latest?.unsubscribe();
    latest = undefined;
    shuttingDown.next(false);
  };
  const end = (): void => {
    if (!shuttingDown.value) return;
    stop();
    goDown();
  };
  /** The machine goes down in an action of its own, because the last lock may end inside of one of the kubelet. */
  const endSoon = (): void => {
    if (shuttingDown.value && locks === 0) clock.scheduler.schedule(() => locks === 0 && end());
  };
  const inhibit = new Observable<void>((subscriber) => {
    if (shuttingDown.value) {
      subscriber.error(
        kubeletError("Unavailable", "The operation inhibition has been requested for is already running"),
      );
      return undefined;
    }
    locks += 1;
    subscriber.next();
    return () => {
      locks -= 1;
      endSoon();
    };
  });
  return {
    port: {
      inhibitDelayMs: () => defer(() => of(delayMs)),
      overrideInhibitDelay: (seconds) =>
        defer(() => {
          written = seconds * MS_PER_SECOND;
          return of(undefined);
        }),
      reload: () =>
        defer(() => {
          delayMs = written;
          return of(undefined);
        }),
      inhibit: () => inhibit,
      shutdowns: () => shuttingDown.asObservable(),
    },
    get isShuttingDown() {
      return shuttingDown.value;
    },
    get locks() {
      return locks;
    },
    get delayMs() {
      return delayMs;
    },
    begin() {
      if (shuttingDown.value) return;
      latest = clock.scheduler.schedule(end, delayMs);
      shuttingDown.next(true);
      endSoon();
    },
    cancel() {
      if (!shuttingDown.value) return false;
      stop();
      return true;
    },
  };
}
