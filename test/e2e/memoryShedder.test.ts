/** Parked requests that would fill V8's heap are refused in time: without that the process is aborted. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const PROGRAM = fileURLToPath(new URL("../support/heapFlood.ts", import.meta.url));
const HEAP_MIB = 96;

const flood = (mode: "with" | "without") =>
  spawnSync(process.execPath, [`--max-old-space-size=${HEAP_MIB}`, PROGRAM, mode, String(2 * HEAP_MIB)], {
    encoding: "utf8",
    timeout: 150_000,
  });

it("a flood of parked requests is shed, again and again, and the process goes on", () => {
  const { status, stdout, stderr } = flood("with");
  expect(status, stderr).toBe(0);
  const { parked, refused } = JSON.parse(stdout) as { readonly parked: number; readonly refused: number };
  expect(parked).toBe(2 * HEAP_MIB * 8);
  expect(refused).toBeGreaterThan(parked / 4);
});

it("the same flood ends a process that does not shed", () => {
  const { signal, stderr } = flood("without");
  expect(signal).toBe("SIGABRT");
  expect(stderr).toContain("heap out of memory");
});
