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
import type { ShutdownReport } from "../support/shutdownNode.ts";

const PROGRAM = fileURLToPath(new URL("../support/shutdownNode.ts", import.meta.url));

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
  },
  missingForSystemd(),
);
