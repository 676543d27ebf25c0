import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Suites with daemons, runtimes and networks: after the others, so that what computes does not keep them waiting. */
const ON_THE_MACHINE = ["test/e2e/**/*.test.ts", "test/conformance/**/*.test.ts"];

/** Waits for minutes and computes next to nothing: beside those that compute, in a worker more than there are cores. */
const WAITING = ["test/e2e/clusterMinutes.test.ts"];

/** Left to itself the runner keeps one core for itself, which on two cores is half of them. */
const CORES = 2;

/** Projects of one group run together, begun in the order of their names. */
const project = (name: string, groupOrder: number, maxWorkers: number, include: string[], exclude: string[] = []) => ({
  extends: true as const,
  test: { name, include, exclude, maxWorkers, sequence: { groupOrder } },
});

export default defineConfig({
  // What users import, from the sources instead of dist.
  resolve: { alias: { "rxlet/sim": fileURLToPath(new URL("src/sim/index.ts", import.meta.url)) } },
  test: {
    // End-to-end suites start daemons and containers: give their condition waits room on a small machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default"],
    projects: [
      project("during minutes", 0, CORES + 1, WAITING),
      project("in memory", 0, CORES + 1, ["test/**/*.test.ts"], ON_THE_MACHINE),
      project("on the machine", 1, CORES, ON_THE_MACHINE, WAITING),
    ],
  },
});
