/** A shutdown of the machine by a real login manager, amid pods of a real containerd. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import {
  cgroupVersionsHere,
  missingForSystemd,
  type PrivateSystemd,
  startPrivateSystemd,
} from "../support/privateSystemd.ts";
import { NODE_NAME } from "../support/daemon.ts";
import type { ServerlessShutdownReport } from "../support/serverlessShutdown.ts";
import type { ShutdownReport } from "../support/shutdownNode.ts";

const programAt = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const PROGRAM = programAt("../support/shutdownNode.ts");
const SERVERLESS = programAt("../support/serverlessShutdown.ts");
const AGENT = `agent-${NODE_NAME}`;

describeOnContainerd(
  "a node whose machine shuts down",
  () => {
    let systemd: PrivateSystemd;
    beforeAll(async () => {
      systemd = await startPrivateSystemd(cgroupVersionsHere()[0] ?? 1);
    });
    afterAll(() => systemd.stop());

    it("ends its pods by priority before the machine goes down, and runs them again when that is cancelled", async () => {
      const report = JSON.parse(await systemd.run(process.execPath, PROGRAM)) as ShutdownReport;
      expect(report).toEqual({
        inhibitors: expect.stringMatching(/kubelet .* shutdown .* delay/),
        order: [0, 1_000, 100_000],
        phases: ["Failed"],
        reasons: ["Terminated"],
        deaf: 137,
        others: [0],
        rejected: "NodeShutdown",
        again: 21,
      });
    });

    it("goes down in time although the API server is dead, and runs the pods again after the next boot", async () => {
      const report = JSON.parse(await systemd.run(process.execPath, SERVERLESS)) as ServerlessShutdownReport;
      const states = (state: string) => ({ low: state, high: state, [AGENT]: state });
      expect(report).toEqual({
        onNode: states("Failed Terminated"),
        atServer: states("Running"),
        untold: [`default/${AGENT}`, "default/high", "default/low"],
        after: states("Running"),
        sameUids: true,
        runningContainers: [1, 1, 1],
        newContainers: true,
        nodeReady: "True",
      });
    });
  },
  missingForSystemd(),
);
