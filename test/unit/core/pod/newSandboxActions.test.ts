import { describe, expect, it } from "vitest";
import { hasLostItsSandbox } from "../../../../src/core/pod/newSandboxActions.ts";
import type { PodRuntimeStatus } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { container, exited, instance, pod, runtime, sandbox } from "../samples.ts";

const containers = [container("web"), container("log")];
const once = pod({ restartPolicy: "Never", containers });
const gone = [sandbox({ ready: false })];
const made = instance("log", { state: "created" });

describe("hasLostItsSandbox", () => {
  const table: readonly (readonly [string, PodRuntimeStatus, boolean])[] = [
    ["a container was made and never ran", runtime([exited("web", 0), made], gone), true],
    ["a container was never made", runtime([exited("web", 0)], gone), true],
    ["something still runs", runtime([instance("web"), made], gone), false],
    [
      "every container has ended: their ends say what became of the pod",
      runtime([exited("web", 0), exited("log", 1)], gone),
      false,
    ],
    ["no container was ever made: another sandbox is allowed", runtime([], gone), false],
    ["the sandbox is there", runtime([exited("web", 0)]), false],
    ["there never was a sandbox", runtime([], []), false],
  ];
  it.each(table)("of a pod that never restarts, when %s", (_when, status, expected) => {
    expect(hasLostItsSandbox(once, status)).toBe(expected);
  });

  it("is never so of a pod that may restart: it gets another sandbox", () => {
    expect(hasLostItsSandbox(pod({ restartPolicy: "OnFailure", containers }), runtime([made], gone))).toBe(false);
  });
});
