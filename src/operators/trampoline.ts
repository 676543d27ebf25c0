/** Turns recursion into a loop: the guard of every operator here that starts the next piece of work when one ends. */

/**
 * A function that repeats `step` until it returns false. Called from inside `step` it returns at once and makes the
 * running loop look again, so 10,000 synchronous pieces of work need no more stack than one.
 */
export function trampoline(step: () => boolean): () => void {
  let running = false;
  let again = false;
  return () => {
    again = true;
    if (running) return;
    running = true;
    try {
      while (again) {
        again = false;
        while (step());
      }
    } finally {
      running = false;
    }
  };
}
