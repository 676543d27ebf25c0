/** Answers that stay good for a while. */

/**
 * Returns a function that asks at most once in `freshMs`, and once at a time; failures are not kept. `nowMs` must be
 * monotonic.
 */
export function kept<T>(freshMs: number, nowMs: () => number, ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let askedAt = -Infinity;
  return () => {
    if (answer !== undefined && nowMs() - askedAt < freshMs) return answer;
    askedAt = nowMs();
    const asked = ask();
    answer = asked;
    asked.catch(() => {
      if (answer === asked) answer = undefined;
    });
    return asked;
  };
}
