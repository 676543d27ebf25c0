/** Pods of a real containerd in slices of a real systemd. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import {
  cgroupVersionsHere,
  missingForSystemd,
  type PrivateSystemd,
  startPrivateSystemd,
} from "../support/privateSystemd.ts";
import type { SystemdNodeReport } from "../support/systemdNode.ts";

const PROGRAM = fileURLToPath(new URL("../support/systemdNode.ts", import.meta.url));
const ROOT = "/rxlet_test.slice/rxlet_test-kubepods.slice";

describeOnContainerd(
  "a node with the systemd cgroup driver",
  () => {
    let systemd: PrivateSystemd;
    beforeAll(async () => {
      systemd = await startPrivateSystemd(cgroupVersionsHere()[0] ?? 1);
    });
    afterAll(() => systemd.stop());

    it("has sandbox and containers of a pod in its slice, adopts them, and leaves nothing of them behind", async () => {
      const report = JSON.parse(await systemd.run(process.execPath, PROGRAM)) as SystemdNodeReport;
      expect(report).toEqual({
        running: 9,
        scopes: {
          [`${ROOT}/rxlet_test-kubepods-podguaranteed.slice`]: 2,
          [`${ROOT}/rxlet_test-kubepods-burstable.slice/rxlet_test-kubepods-burstable-podburstable.slice`]: 2,
          [`${ROOT}/rxlet_test-kubepods-besteffort.slice/rxlet_test-kubepods-besteffort-podbesteffort.slice`]: 2,
        },
        restarts: [0, 0, 0],
        left: [],
      });
    });
  },
  missingForSystemd(),
);
