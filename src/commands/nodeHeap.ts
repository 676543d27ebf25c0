/** V8's settings of a process that runs a node. */
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { NodeHeap } from "./heapKeeper.ts";

const MIB = 1_048_576;
/** By default the heap may double before V8 collects it: a burst of large pods would leave 50 MiB of garbage resident. */
const GROWTH_PERCENT = { calm: 20, busy: 60 };
/**
 * Size of each of the two semi-spaces while the process is busy. In the first size, 1 MiB, so much of a starting pod outlives
 * its collections that a burst takes a fifth more CPU. V8 gives the space back when the process is calm.
 */
const SEMI_SPACE_BYTES = 4 * MIB;
/** Bounds the objects that are made to fill the first size: a few thousand suffice. */
const MAX_ROUNDS = 256;
const OBJECTS_PER_ROUND = 2_000;

/** Sets the heap of this process to stay small between bursts of pods. Call it before the node is created. */
export function tuneNodeHeap(): void {
  // By default the young generation grows to 128 MiB in a burst of pods and keeps it for minutes, all of it resident.
  setFlagsFromString("--semi-space-growth-factor=1");
  // Parallel helpers have to be scheduled first: on a busy machine the main thread waits for them longer than it
  // collects alone. Beside other work nine in ten collections end within half the time.
  setFlagsFromString("--no-parallel-scavenge");
  nodeHeap.setBusy(true);
}

/** The heap of this process. */
export const nodeHeap: NodeHeap & { collectYoung(): void } = {
  setBusy(isBusy) {
    setFlagsFromString(`--heap-growing-percent=${isBusy ? GROWTH_PERCENT.busy : GROWTH_PERCENT.calm}`);
    if (isBusy) growYoungGeneration();
  },
  trim() {
    collector ??= newCollector();
    collector({ type: "major", flavor: "last-resort" });
  },
  /** Frees dead young objects and their buffers, and does not look at old ones. */
  collectYoung() {
    collector ??= newCollector();
    collector({ type: "minor" });
  },
};

/** The factor by which a semi-space is too small. V8 keeps a little of each page to itself. */
function lackingFactor(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
  return young === undefined ? 1 : Math.round(SEMI_SPACE_BYTES / (young.space_used_size + young.space_available_size));
}

/**
 * Grows the young generation to its size for bursts. V8 grows it by a factor when more objects survive than it holds, and knows
 * no bound that can be set while it runs: for this moment there is a factor and there are such objects.
 */
function growYoungGeneration(): void {
  const factor = lackingFactor();
  if (factor <= 1) return;
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
  const survivors: unknown[] = [];
  for (let round = 0; round < MAX_ROUNDS && lackingFactor() > 1; round += 1) {
    for (let count = 0; count < OBJECTS_PER_ROUND; count += 1) survivors.push({ round, count });
  }
  setFlagsFromString("--semi-space-growth-factor=1");
}

type Collect = (options: { readonly type: "major" | "minor"; readonly flavor?: "last-resort" }) => void;

let collector: Collect | undefined;

/** The only way to V8's collector that does not take an inspector. */
function newCollector(): Collect {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as Collect;
  setFlagsFromString("--no-expose-gc");
  return collect;
}
