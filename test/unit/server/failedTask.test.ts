import { expect, it } from "vitest";
import { failedTask } from "../../../src/server/failedTask.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

it("logs and counts the failure of a task", () => {
  const telemetry = recordingTelemetry();
  failedTask(telemetry, "upgrade")(new Error("gone"));
  expect(telemetry.lines).toEqual([
    {
      level: "error",
      message: "A task of the server failed",
      fields: { logger: "server", task: "upgrade", error: expect.objectContaining({ message: "gone" }) },
    },
  ]);
  expect([...telemetry.samples]).toEqual([['rxlet_failed_tasks_total{task="upgrade"}', 1]]);
});
