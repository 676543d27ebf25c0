/** Turns by key: calls with equal keys run one at a time. State: a gate per key while calls hold or await it. */
import { defer, finalize } from "rxjs";
import type { Call } from "../ports/call.ts";
import { createSemaphore, type Semaphore } from "./semaphore.ts";

export interface KeyedTurns {
  /**
   * Runs the call once no other call has the key.
   *
   *     run(k, a)   [----a]
   *     run(k, b)         [---b]
   *     run(l, c)   [--c]
   *
   * Cancels: a waiting call gives up its place, a running one its turn. Errors: the call's own. Bound: one running per key;
   * all callers may wait.
   */
  run<T>(key: string, call: Call<T>): Call<T>;
  /** Number of keys with calls. */
  readonly size: number;
}

/** Creates turns for any keys. */
export function createKeyedTurns(): KeyedTurns {
  const gates = new Map<string, { readonly gate: Semaphore; users: number }>();
  return {
    run: (key, call) =>
      defer(() => {
        const entry = gates.get(key) ?? { gate: createSemaphore(1), users: 0 };
        gates.set(key, entry);
        entry.users += 1;
        return entry.gate.run(call).pipe(
          finalize(() => {
            entry.users -= 1;
            if (entry.users === 0) gates.delete(key);
          }),
        );
      }),
    get size() {
      return gates.size;
    },
  };
}
