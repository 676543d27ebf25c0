/** Waiting with an end. */

/** Longest delay of a timer; more would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** True when `done` settled within `ms` milliseconds (or `signal` did not abort first), false otherwise. */
export async function within(ms: number, done: Promise<unknown>, signal?: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const giveUp = (): void => resolve(false);
  const timer = setTimeout(giveUp, Math.min(ms, MAX_TIMER_MS));
  signal?.addEventListener("abort", giveUp, { once: true });
  if (signal?.aborted === true) giveUp();
  done.then(
    () => resolve(true),
    () => resolve(true),
  );
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
}
