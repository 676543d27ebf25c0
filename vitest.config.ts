import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Suites with daemons, runtimes and networks: after the others, so that what computes does not keep them waiting. */
const ON_THE_MACHINE = ["test/e2e/**/*.test.ts", "test/conformance/**/*.test.ts"];

/** Left to itself the runner keeps one core for itself, which on two cores is half of them. */
const WORKERS = 2;

export default defineConfig({
  // What users import, from the sources instead of dist.
  resolve: { alias: { "rxlet/sim": fileURLToPath(new URL("src/sim/index.ts", import.meta.url)) } },
  test: {
    // End-to-end suites start daemons and containers: give their condition waits room on a small machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default"],
    maxWorkers: WORKERS,
    projects: [
      {
        extends: true,
        test: {
          name: "in memory",
          include: ["test/**/*.test.ts"],
          exclude: ON_THE_MACHINE,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "on the machine",
          include: ON_THE_MACHINE,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
