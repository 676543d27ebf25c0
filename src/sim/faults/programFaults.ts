/** Faults of programs in containers, and of image registries. */
import { kubeletError } from "../../core/errors.ts";
import type { Prng } from "../prng.ts";
import type { SimPull, SimRegistry } from "../runtime/simImageCalls.ts";
import type { SimGrowth, SimPrograms, SimWrite } from "../runtime/simProgram.ts";
import type { Fault, FaultDice } from "./faultDice.ts";

const LONGEST_UNKILLABLE_MS = 600_000;
const LONGEST_PULL_MS = 300_000;
const LATEST_HOG_MS = 600_000;
/** More than any limit and any machine. */
const MORE_THAN_THERE_IS = 2 ** 50;
const MIB = 2 ** 20;
const GIB = 2 ** 30;
const MOST_WRITTEN_GIB = 20;
const MOST_FILES = 1_000_000;
const LARGEST_IMAGE_GIB = 8;

/**
 * Makes some programs exit long after KILL, some exceed their memory, some leak memory, and some fill the volume of
 * their pod with bytes or files.
 */
export function withProgramFaults(programs: SimPrograms, dice: FaultDice): SimPrograms {
  return (input) => {
    const program = programs(input);
    const { namespace, name } = input.sandbox.metadata ?? { namespace: "", name: "" };
    const { name: container, attempt } = input.container.metadata ?? { name: "", attempt: 0 };
    const instance = `${namespace}/${name}/${container}#${attempt}`;
    const unkillable = dice.roll(["unkillable"], instance);
    const hog = dice.roll(["memoryHog"], instance);
    const leak = hog === undefined ? dice.roll(["memoryLeak"], instance) : undefined;
    const writer = dice.roll(["volumeGrows"], instance);
    const creator = writer === undefined ? dice.roll(["filesGrow"], instance) : undefined;
    return {
      ...program,
      ...(unkillable && {
        onTerm: "ignored",
        onKill: { afterMs: unkillable.prng.int(1, LONGEST_UNKILLABLE_MS), code: 137 },
      }),
      ...(hog && { grows: [{ afterMs: hog.prng.int(1, LATEST_HOG_MS), memoryBytes: MORE_THAN_THERE_IS }] }),
      ...(leak && { grows: drawLeak(leak.prng, program.usage?.memoryBytes ?? 0) }),
      ...(writer && { writes: drawWrites(writer.prng) }),
      ...(creator && { writes: drawFiles(creator.prng) }),
    };
  };
}

const MOST_LEAK_STEPS = 200;

/** Returns a growth in equal steps; every third program frees its memory at the end and starts again. */
function drawLeak(prng: Prng, startBytes: number): readonly SimGrowth[] {
  const [stepMs, stepMib] = [prng.int(1_000, 10_000), prng.pick([1, 2, 4, 8, 16, 64])];
  const steps = prng.int(10, MOST_LEAK_STEPS);
  const falls = prng.chance(0.33);
  const hasThreads = prng.chance(0.2);
  return Array.from({ length: falls ? 2 * steps : steps }, (_, index) => {
    const level = falls && (index + 1) % steps === 0 ? 0 : (index % steps) + 1;
    return {
      afterMs: (index + 1) * stepMs,
      memoryBytes: startBytes + level * stepMib * MIB,
      ...(hasThreads ? { tasks: 1 + level } : {}),
    };
  });
}

/** Returns the sizes of a file that grows to at most 20 GiB within half an hour. */
function drawWrites(prng: Prng): readonly SimWrite[] {
  const steps = prng.int(1, 30);
  const [stepMs, stepGib] = [prng.int(1_000, 60_000), prng.next() * (MOST_WRITTEN_GIB / steps)];
  return Array.from({ length: steps }, (_, index) => ({
    afterMs: (index + 1) * stepMs,
    bytes: Math.round((index + 1) * stepGib * GIB),
  }));
}

/** Returns numbers of files that grow to at most a million within half an hour. */
function drawFiles(prng: Prng): readonly SimWrite[] {
  const steps = prng.int(1, 30);
  const [stepMs, stepFiles] = [prng.int(1_000, 60_000), prng.next() * (MOST_FILES / steps)];
  return Array.from({ length: steps }, (_, index) => {
    const files = 1 + Math.floor((index + 1) * stepFiles);
    return { afterMs: (index + 1) * stepMs, bytes: 0, files };
  });
}

/** Makes a registry reject some pulls, delay others, and have large images. */
export function withPullFaults(registry: SimRegistry, dice: FaultDice): SimRegistry {
  const pulls = new Map<string, number>();
  return (reference) => {
    const count = (pulls.get(reference) ?? 0) + 1;
    pulls.set(reference, count);
    const pull = sized(registry(reference), dice.roll(["imageLarge"], reference));
    const fault = dice.roll(["pullFails", "pullSlow"], `${reference} ${count}`);
    switch (fault?.kind) {
      case "pullFails":
        return { ms: pull.ms, error: kubeletError("Unknown", `failed to pull image "${reference}": connection reset`) };
      case "pullSlow":
        return { ...pull, ms: pull.ms + fault.prng.int(1, LONGEST_PULL_MS) };
      default:
        return pull;
    }
  };
}

function sized(pull: SimPull, large: Fault | undefined): SimPull {
  if (large === undefined || "error" in pull) return pull;
  return { ...pull, image: { ...pull.image, sizeBytes: large.prng.int(1, LARGEST_IMAGE_GIB) * GIB } };
}
