/** An Rng for tests that always draws the same number, 0 by default; its UUIDs count up. */
import type { Rng } from "../../src/ports/random.ts";

export function fixedRng(value = 0): Rng {
  let drawn = 0;
  return {
    next: () => value,
    uuid: () => {
      drawn += 1;
      return `00000000-0000-4000-8000-${String(drawn).padStart(12, "0")}`;
    },
  };
}
