/** Waits with a timeout. */

/** Maximum delay of a Node timer; a longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Resolves to true if `done` settles within `ms` milliseconds and before `signal` aborts, to false otherwise. */
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
