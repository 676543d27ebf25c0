import { expect, it } from "vitest";
import { resourceWaitStatus } from "../../../../src/core/admission/resourceWait.ts";
import type { PodStatus } from "../../../../src/core/api.ts";
import { epochMs } from "../../../../src/core/ids.ts";
import { podOf } from "../../../support/pods.ts";

const NOW = epochMs(0);
const NODE = { hostIPs: [] };

it("reports a pod that never ran as Pending, with the reason and message of the wait", () => {
  const { phase, containerStatuses } = resourceWaitStatus(podOf(), "Waiting for a plugin", NOW, NODE);
  expect(phase).toBe("Pending");
  expect(containerStatuses?.[0]?.state).toEqual({
    waiting: { reason: "WaitingForResources", message: "Waiting for a plugin" },
  });
});

it("counts no restart of containers that ran before the machine started again, and reports no end of them", () => {
  const ran = {
    phase: "Running",
    containerStatuses: [{ name: "main", restartCount: 3, state: { running: {} }, lastState: {}, ready: true }],
  } as unknown as PodStatus;
  const { containerStatuses } = resourceWaitStatus({ ...podOf(), status: ran }, "Waiting for a plugin", NOW, NODE);
  expect(containerStatuses?.[0]).toMatchObject({
    restartCount: 3,
    lastState: {},
    state: { waiting: { reason: "WaitingForResources" } },
  });
});
