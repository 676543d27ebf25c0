/**
 * Memory of ended processes that the kernel has not freed yet. Owns the amount. Bound: a pending action per process
 * with a delay.
 */
import type { Clock } from "../../ports/clock.ts";
import type { SimHostProcess } from "./simProcesses.ts";

/** Creates an empty amount. `delayMs` returns how long the memory of a process outlives it. */
export function createSlowReclaim({ scheduler }: Clock, delayMs: (process: SimHostProcess) => number) {
  let pending = new Map<SimHostProcess, number>();
  return {
    get bytes(): number {
      return [...pending.values()].reduce((sum, bytes) => sum + bytes, 0);
    },
    ended(process: SimHostProcess): void {
      const ms = process.memoryBytes === 0 ? 0 : delayMs(process);
      if (ms <= 0) return;
      const boot = pending;
      boot.set(process, process.memoryBytes);
      scheduler.schedule(() => void boot.delete(process), ms);
    },
    /** Frees all, as a boot does. */
    boot(): void {
      pending = new Map();
    },
  };
}
