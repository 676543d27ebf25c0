/** A rate for values; for a rate that many callers share see tokenBucket. */
import { defer, map, type MonoTypeOperatorFunction } from "rxjs";
import { boundedMergeMap } from "./boundedMergeMap.ts";
import { type TokenBucketOptions, tokenBucket } from "./tokenBucket.ts";

/** The bucket and the queue before it. */
export interface RateLimitOptions<T> extends TokenBucketOptions {
  /** Values that may wait for a token. */
  readonly queueLimit: number;
  /** Told the value that came when the queue was full; it is not emitted. */
  onDrop?(dropped: T): void;
}

/**
 * Delays values, in order, so that at most `burst` come at once and `qps` per second.
 *
 *     source                        (abc)--------|
 *     rateLimit(qps 1, burst 2)     (ab) 1s c|
 *
 * Cancels: the wait. Errors: the source's, at once. Bound: `queueLimit` waiting values, the newest dropped beyond it.
 */
export function rateLimit<T>(options: RateLimitOptions<T>): MonoTypeOperatorFunction<T> {
  return (source$) =>
    defer(() => {
      const bucket = tokenBucket(options);
      return source$.pipe(
        boundedMergeMap((value: T) => bucket.acquire().pipe(map(() => value)), {
          limit: 1,
          queueLimit: options.queueLimit,
          onDrop: (dropped) => options.onDrop?.(dropped),
        }),
      );
    });
}
