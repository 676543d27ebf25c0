import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  // What users import, from the sources instead of dist.
  resolve: { alias: { "rxlet/sim": fileURLToPath(new URL("src/sim/index.ts", import.meta.url)) } },
  test: {
    include: ["test/**/*.test.ts"],
    // End-to-end suites start daemons and containers: give their condition waits room on a small machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default"],
  },
});
