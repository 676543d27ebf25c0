/** Answers that stay good for a while. */

/**
 * Returns a function that asks at most once in `freshMs`, and once at a time; failures are not kept. `nowMs` must be
 * monotonic.
 */
export function kept<T>(freshMs: number, nowMs: () => number, ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let asking: Promise<T> | undefined;
  let askedAt = -Infinity;
  return () => {
    if (asking !== undefined) return asking;
    if (answer !== undefined && nowMs() - askedAt < freshMs) return answer;
    askedAt = nowMs();
    const asked = ask();
    [answer, asking] = [asked, asked];
    asked.then(
      () => (asking = undefined),
      () => ([answer, asking] = [undefined, undefined]),
    );
    return asked;
  };
}

/**
 * Returns a function that answers at once with the last good answer, and asks again, once at a time, when that is older
 * than `freshMs`. Without a good answer its callers wait for one. `nowMs` must be monotonic.
 */
export function lastGood<T>(freshMs: number, nowMs: () => number, ask: () => Promise<T>): () => Promise<T> {
  let good: Promise<T> | undefined;
  let goodAt = -Infinity;
  let asking: Promise<T> | undefined;
  const askAgain = (): Promise<T> => {
    const askedAt = nowMs();
    const asked = ask();
    asking = asked;
    asked.then(
      () => {
        good = asked;
        goodAt = askedAt;
        asking = undefined;
      },
      () => (asking = undefined),
    );
    return asked;
  };
  return () => {
    if (good === undefined) return asking ?? askAgain();
    if (nowMs() - goodAt >= freshMs && asking === undefined) askAgain().catch(() => {}); // the good one serves
    return good;
  };
}
