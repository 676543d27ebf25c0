/** V8's settings of a process that runs a node. */
import { setFlagsFromString } from "node:v8";

/** Sets the heap of this process to stay small between bursts of pods. Call it before the node is created. */
export function tuneNodeHeap(): void {
  // By default the young generation grows to 128 MiB in a burst of pods and keeps it for minutes, all of it resident.
  // Kept small, a daemon that has just started 100 pods is a quarter to a third smaller, at the same CPU time.
  setFlagsFromString("--semi-space-growth-factor=1");
  // Parallel helpers have to be scheduled first: on a busy machine the main thread waits for them longer than it
  // collects alone. Beside other work nine in ten collections end within half the time.
  setFlagsFromString("--no-parallel-scavenge");
  // By default the heap may double before V8 collects it: a burst of large pods would leave 50 MiB of garbage resident.
  setFlagsFromString("--heap-growing-percent=20");
}
