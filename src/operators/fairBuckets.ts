/** A token bucket that several groups of callers share in turns: a group with many requests delays only itself. */
import { Observable, type Subscriber, type Subscription } from "rxjs";
import type { TokenBucket } from "./tokenBucket.ts";
import { trampoline } from "./trampoline.ts";

/**
 * Creates `groups` gates that share the tokens of `bucket`.
 *
 *     qps 1, burst 1
 *     first group    (abc)
 *     second group   -d
 *     emits          a 999ms b 999ms d 999ms c      one of each in turn while both wait
 *
 * Cancels: a waiter that leaves takes no token. Errors: none. Bound: the number of callers; a single waiting group
 * has all tokens, each of n waiting groups one in n.
 */
export function fairBuckets(bucket: TokenBucket, groups: number): readonly TokenBucket[] {
  const waiters = Array.from({ length: groups }, () => new Set<Subscriber<void>>());
  let last = groups - 1;
  let asking: Subscription | undefined;
  const isEmpty = (): boolean => waiters.every(({ size }) => size === 0);
  const grant = (): void => {
    for (let step = 1; step <= groups; step += 1) {
      const group = (last + step) % groups;
      const [waiter] = waiters[group] ?? [];
      if (waiter === undefined) continue;
      waiters[group]?.delete(waiter);
      last = group;
      waiter.next();
      waiter.complete();
      return;
    }
  };
  const advance = trampoline(() => {
    if (asking !== undefined || isEmpty()) return false;
    let isGranted = false;
    const asked = bucket.acquire().subscribe({
      complete: () => {
        isGranted = true;
        asking = undefined;
        grant();
        advance();
      },
    });
    if (!isGranted) asking = asked;
    return isGranted;
  });
  const leave = (group: Set<Subscriber<void>>, waiter: Subscriber<void>): void => {
    if (!group.delete(waiter) || !isEmpty()) return;
    asking?.unsubscribe();
    asking = undefined;
  };
  return waiters.map((group) => ({
    get waiting() {
      return group.size;
    },
    acquire: () =>
      new Observable<void>((subscriber) => {
        group.add(subscriber);
        subscriber.add(() => leave(group, subscriber));
        advance();
      }),
  }));
}
