import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Workers, and the programs that tests start, load the compiled sources from here: that halves the CPU of a start. */
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/node", import.meta.url));

/** Whole nodes from seeds, in virtual time: by themselves, so that it shows how long they take. */
const SEEDS = ["test/sim/seeds/**/*.test.ts"];

/** Suites with daemons, runtimes, networks, browsers: after the others, so that what computes does not keep them waiting. */
const ON_THE_MACHINE = ["test/e2e/**/*.test.ts", "test/conformance/**/*.test.ts", "test/browser/**/*.test.ts"];

/** Waits for minutes and computes next to nothing: beside those that compute, in a worker more than there are cores. */
const WAITING = ["test/e2e/clusterMinutes.test.ts", "test/e2e/utilChains.test.ts"];

/**
 * Suites that replace the timers of their process. A real clock that another suite shares would set such a timer, and wait for it
 * for ever once the timers are real again.
 */
const WITH_FAKE_TIMERS = globSync("test/**/*.test.ts").filter((file) =>
  readFileSync(file, "utf8").includes("vi.useFakeTimers("),
);

/** Left to itself the runner keeps one core for itself, which on two cores is half of them. */
const CORES = availableParallelism();

/**
 * Suites with daemons at once, on any number of cores: their waits and figures are those of a small machine, and they wait
 * for a third of their time.
 */
const DAEMON_SUITES = 3;

/** Builds the program that these suites start. */
const BUILT = "test/support/builtProgram.ts";

interface Suite {
  readonly include: string[];
  readonly exclude?: string[];
  readonly maxWorkers: number;
  /** Whether each file has a process of its own. What is pure shares one, which saves most of its time. */
  readonly isolate?: boolean;
  readonly globalSetup?: string;
}

/** Projects of one group run together, begun in the order of their names. */
const project = (name: string, groupOrder: number, { exclude = [], ...suite }: Suite) => ({
  extends: true as const,
  test: { name, exclude, ...suite, sequence: { groupOrder } },
});

export default defineConfig({
  test: {
    // Tests run what the daemon runs, the sources as Node loads them: rewritten for a bundler they are a third slower.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Resolve the public exports to the sources instead of dist; size the heap for simulations, one worker per core.
    execArgv: [
      "--conditions=rxlet-sources",
      "--no-allocation-site-pretenuring",
      "--no-parallel-scavenge",
      "--max-semi-space-size=64",
    ],
    // End-to-end suites start daemons and containers, and machines are busy: what hangs is found all the same.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    reporters: ["default"],
    projects: [
      project("seeds", 0, { include: SEEDS, maxWorkers: CORES, isolate: false }),
      project("during minutes", 1, { include: WAITING, maxWorkers: CORES + 1, globalSetup: BUILT }),
      project("in memory", 1, {
        include: ["test/**/*.test.ts"],
        exclude: [...SEEDS, ...ON_THE_MACHINE, ...WITH_FAKE_TIMERS],
        maxWorkers: CORES + 1,
        isolate: false,
      }),
      project("with fake timers", 1, { include: WITH_FAKE_TIMERS, maxWorkers: CORES + 1 }),
      project("on the machine", 2, {
        include: ON_THE_MACHINE,
        exclude: WAITING,
        maxWorkers: DAEMON_SUITES,
        globalSetup: BUILT,
      }),
    ],
  },
});
