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
    ["every container has terminated", runtime([exited("web", 0), exited("log", 1)], gone), false],
    ["no container was ever made: another sandbox is allowed", runtime([], gone), false],
    ["the sandbox is there", runtime([exited("web", 0)]), false],
    ["there was no sandbox", runtime([], []), false],
  ];
  it.each(table)("for a pod with policy Never, when %s", (_when, status, expected) => {
    expect(hasLostItsSandbox(once, status)).toBe(expected);
  });

  it("is false for a pod that may restart, which gets another sandbox", () => {
    expect(hasLostItsSandbox(pod({ restartPolicy: "OnFailure", containers }), runtime([made], gone))).toBe(false);
  });
});
