/**
 * When a container that keeps exiting may start again. The arithmetic is core/backoff.ts; this puts it in time. Owns
 * the backoff table of its stream. Upstream counterpart: kuberuntime's doBackOff.
 */
import { Observable, type OperatorFunction, type Subscription } from "rxjs";
import {
  backoffUntil,
  type BackoffPolicy,
  type ContainerBackoffs,
  NO_BACKOFFS,
  pruneBackoffs,
  registerRestart,
} from "../core/backoff.ts";
import { monotonicMs, type MonotonicMs } from "../core/ids.ts";
import type { Clock } from "../ports/clock.ts";
import { longTimer } from "./longTimer.ts";
import { subscribeInner } from "./subscribeInner.ts";

/** A container exited. */
export interface ContainerExit {
  /** Key of its backoff: container and spec hash. */
  readonly key: string;
  readonly exitedAt: MonotonicMs;
}

/** A container may start again now. */
export interface RestartPermission {
  readonly key: string;
  readonly exitedAt: MonotonicMs;
  /** How long it was held back since its exit, in milliseconds. */
  readonly waitedMs: number;
}

/**
 * Emits the permission to restart for each exit, after the wait of its key: none at first, then the policy's first
 * delay after the exit, doubling, until a run longer than `resetAfterMs`.
 *
 *     exits               x--x-----x----------
 *     crashLoopBackoff    p----p-----------p--      0, 10 s, 20 s after the exit
 *
 * Cancels: a key's wait when it exits again meanwhile. Errors: the source's. Bound: one timer per key waiting; keys
 * quiet for `resetAfterMs` + `maxMs` are forgotten. Completes after the last permission.
 */
export function crashLoopBackoff(
  policy: BackoffPolicy,
  clock: Clock,
): OperatorFunction<ContainerExit, RestartPermission> {
  return (exit$) =>
    new Observable<RestartPermission>((destination) => {
      const waits = new Map<string, Subscription>();
      let backoffs: ContainerBackoffs = NO_BACKOFFS;
      let sourceEnded = false;

      const permit = ({ key, exitedAt }: ContainerExit) => {
        const now = clock.monotonicMs();
        // A key may wait maxMs after an exit that came just before it would have been forgotten.
        const kept = pruneBackoffs(backoffs, monotonicMs(now - policy.maxMs), policy);
        backoffs = registerRestart(kept, key, exitedAt, now, policy);
        destination.next({ key, exitedAt, waitedMs: now - exitedAt });
      };
      const completeWhenIdle = () => {
        if (sourceEnded && waits.size === 0) destination.complete();
      };
      subscribeInner(destination, () => exit$, {
        next: (exit) => {
          waits.get(exit.key)?.unsubscribe();
          waits.delete(exit.key);
          const until = backoffUntil(backoffs, exit.key, exit.exitedAt, policy) ?? monotonicMs(-Infinity);
          const waitMs = until - clock.monotonicMs();
          if (waitMs <= 0) {
            permit(exit);
            return;
          }
          const wait = subscribeInner(destination, () => longTimer(clock, waitMs), {
            next: () => {
              waits.delete(exit.key);
              permit(exit);
            },
            ended: completeWhenIdle,
          });
          waits.set(exit.key, wait);
        },
        ended: () => {
          sourceEnded = true;
          completeWhenIdle();
        },
      });
    });
}
