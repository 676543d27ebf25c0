/**
 * Faults of the machine's resources: other programs take memory, disk and process ids for a while, another client of the runtime
 * leaves images, and the memory of ended programs is freed late. Owns what others have taken. Bound: a pending action
 * per fault, until the faults end.
 */
import { type Observable, Subscription } from "rxjs";
import type { SimHostProcess } from "../host/simProcesses.ts";
import type { Prng } from "../prng.ts";
import { simImage } from "../runtime/simImageCalls.ts";
import type { SimNode } from "../simNode.ts";
import type { FaultDice } from "./faultDice.ts";
import type { FaultKind } from "./faultKinds.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const SHORTEST_MS = 60_000;
const LONGEST_MS = 20 * 60_000;
const MOST_IMAGES = 6;
const LARGEST_IMAGE_GIB = 10;
const PINNED_SHARE = 0.1;
const LEAST_DISK_PERCENT = 40;
const MOST_DISK_PERCENT = 85;
const LEAST_MEMORY_MIB = 64;
const MOST_MEMORY_MIB = 1024;
const LEAST_PIDS = 64;
const MOST_PIDS = 4_000;
const SLOWEST_RECLAIM_MS = 20_000;
/** The OOM killer never chooses such a process. */
const NEVER_KILLED = -1000;
const FILLER = "other programs";
const TAKER = "other";

type ResourceFault = "imagesPile" | "diskFills" | "memoryTaken" | "pidsTaken";

/** Creates the programs that take memory and process ids: one for each at a time. */
function createTakers(node: SimNode) {
  const { processes, usage } = node.host;
  const pids = new Map<"memory" | "pids", number>();
  const end = (of: "memory" | "pids", pid = pids.get(of)): void => {
    if (pid === undefined || pids.get(of) !== pid) return;
    pids.delete(of);
    // After a boot, the id may be that of another process.
    if (processes.get(pid)?.name === TAKER) processes.end(pid);
  };
  /** Starts a program; returns the function that ends it. */
  const take = (of: "memory" | "pids", what: string, uses: Partial<Omit<SimHostProcess, "pid" | "name">>) => {
    node.note(`${what} taken by other programs`);
    const pid = processes.start({ name: TAKER, oomScoreAdj: NEVER_KILLED, ...uses });
    pids.set(of, pid);
    return (): void => end(of, pid);
  };
  return {
    /** Leaves so many bytes of memory; returns the function that frees the rest. */
    takeMemory(leftBytes: number): () => void {
      end("memory");
      const memoryBytes = Math.max(0, figureOf(usage.memory(), ({ availableBytes }) => availableBytes) - leftBytes);
      return take("memory", `${Math.round(memoryBytes / MIB)} MiB of memory`, { memoryBytes });
    },
    /** Leaves so many process ids; returns the function that frees the rest. */
    takePids(left: number): () => void {
      end("pids");
      const tasks = Math.max(1, figureOf(usage.pids(), ({ max, running }) => max - running) - left);
      return take("pids", `${tasks} process ids`, { tasks });
    },
    end(): void {
      end("memory");
      end("pids");
    },
  };
}

/** Returns a figure of a simulated machine, which answers at once. */
function figureOf<T>(call: Observable<T>, of: (answer: T) => bigint): number {
  let figure = 0;
  call.subscribe({ next: (answer) => (figure = Number(of(answer))), error: () => {} });
  return figure;
}

/** Creates the accidents of a node, and the function that ends them. */
export function createResourceFaults(node: SimNode) {
  const { disk } = node.host;
  let images = 0;
  const takers = createTakers(node);
  let pending = new Subscription();
  const forAWhile = (prng: Prng, what: string, end: () => void): void => {
    const action = node.scheduler.schedule(
      () => {
        pending.remove(action);
        node.note(`${what} freed by other programs`);
        end();
      },
      prng.int(SHORTEST_MS, LONGEST_MS),
    );
    pending.add(action);
  };
  const accidents = {
    imagesPile(prng) {
      const count = prng.int(1, MOST_IMAGES);
      node.note(`${count} images pulled by another client`);
      for (let made = 0; made < count; made += 1) {
        images += 1;
        const image = simImage(`registry.example/other-${images}:1`, prng.int(1, LARGEST_IMAGE_GIB) * GIB);
        if (disk.usage("/").availableBytes < image.sizeBytes) return;
        node.runtime.addImage(prng.chance(PINNED_SHARE) ? { ...image, pinned: true } : image);
      }
    },
    diskFills(prng) {
      const [isInodes, percent] = [prng.chance(0.2), prng.int(LEAST_DISK_PERCENT, MOST_DISK_PERCENT)];
      node.note(`${percent} % of the ${isInodes ? "inodes" : "disk"} taken by other programs`);
      const { capacityBytes = 0, inodes = 0 } = disk.fileSystems.find(({ mountPoint }) => mountPoint === "/") ?? {};
      const of = (capacity: number): number => Math.floor((capacity * percent) / 100);
      disk.fill("/", FILLER, isInodes ? { inodes: of(inodes) } : { bytes: of(capacityBytes) });
      forAWhile(prng, "disk", () => disk.fill("/", FILLER, {}));
    },
    memoryTaken(prng) {
      forAWhile(prng, "memory", takers.takeMemory(prng.int(LEAST_MEMORY_MIB, MOST_MEMORY_MIB) * MIB));
    },
    pidsTaken(prng) {
      forAWhile(prng, "process ids", takers.takePids(prng.int(LEAST_PIDS, MOST_PIDS)));
    },
  } satisfies Readonly<Record<ResourceFault, (prng: Prng) => void>> & Partial<Record<FaultKind, unknown>>;
  return {
    accidents,
    heal(): void {
      pending.unsubscribe();
      pending = new Subscription();
      disk.fill("/", FILLER, {});
      takers.end();
    },
  };
}

/** Returns how long the memory of an ended program stays in use. */
export function slowReclaims(dice: FaultDice): (process: SimHostProcess) => number {
  const ended = new Map<string, number>();
  return ({ name, cgroup }) => {
    if (cgroup === "/") return 0;
    const count = (ended.get(name) ?? 0) + 1;
    ended.set(name, count);
    return dice.roll(["memoryStays"], `${name} ${count}`)?.prng.int(1, SLOWEST_RECLAIM_MS) ?? 0;
  };
}
