import { describe, expect, it } from "vitest";
import { nodeStatus, type ServiceFacts, startTakes, statusText } from "../../../../src/core/systemd/notifications.ts";

const HEALTHY: ServiceFacts = { pods: 12, runtimeProblems: [], failedChecks: [] };

describe("notifications", () => {
  it.each<[string, Partial<ServiceFacts>, string]>([
    ["pods and a runtime that is ready", {}, "12 pods; container runtime ready"],
    ["no pods", { pods: 0 }, "0 pods; container runtime ready"],
    ["one pod", { pods: 1 }, "1 pod; container runtime ready"],
    [
      "the first problem of the runtime",
      { runtimeProblems: ["container runtime is down: ECONNREFUSED", "container runtime network not ready"] },
      "12 pods; container runtime is down: ECONNREFUSED",
    ],
    [
      "failed checks before a problem, which may be long",
      { runtimeProblems: ["container runtime is down"], failedChecks: ["syncloop", "device-plugin"] },
      "12 pods; unhealthy: syncloop, device-plugin; container runtime is down",
    ],
  ])("describe %s", (_, facts, text) => {
    expect(nodeStatus({ ...HEALTHY, ...facts })).toBe(`STATUS=${text}`);
  });

  it("keep a status in one assignment: a line break in a text of the runtime begins no other", () => {
    expect(statusText(" down:\nWATCHDOG=trigger\r\u0000\tMAINPID=1 \u007f")).toBe(
      "STATUS=down: WATCHDOG=trigger MAINPID=1",
    );
  });

  it("cut a status after 300 characters", () => {
    expect(statusText("x".repeat(300))).toBe(`STATUS=${"x".repeat(300)}`);
    expect(statusText("x".repeat(301))).toBe(`STATUS=${"x".repeat(300)}`);
  });

  it("ask for more time in microseconds", () => {
    expect(startTakes(30_000)).toBe("EXTEND_TIMEOUT_USEC=30000000");
  });
});
