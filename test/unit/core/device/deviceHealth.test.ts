import { describe, expect, it } from "vitest";
import type { PodStatus } from "../../../../src/core/api.ts";
import { withDeviceHealth } from "../../../../src/core/device/deviceHealth.ts";
import { changedDevices, NO_DEVICES } from "../../../../src/core/device/deviceState.ts";
import { monotonicMs } from "../../../../src/core/ids.ts";

const resource = "example.com/gpu";
const container = (name: string) => ({ name, image: "", imageID: "", ready: true, restartCount: 0 });
const status: PodStatus = {
  containerStatuses: [container("main"), container("plain")],
  initContainerStatuses: [container("init")],
};
const hardware = new Map([
  ["main", { devices: new Map([[resource, ["b", "a", "lost"]]]) }],
  ["init", { devices: new Map([[resource, ["a"]]]) }],
  ["plain", {}],
]);
const listed = changedDevices(NO_DEVICES, {
  ...{ kind: "listed", resource },
  endpoint: { socket: "/gpu.sock", preStartRequired: false, prefersDevices: false },
  devices: [
    { id: "a", isHealthy: true, nodes: [] },
    { id: "b", isHealthy: false, nodes: [] },
  ],
});

describe("withDeviceHealth", () => {
  it("reports each device of each container, sorted", () => {
    expect(withDeviceHealth(status, hardware, listed)).toEqual({
      containerStatuses: [
        {
          ...container("main"),
          allocatedResourcesStatus: [
            {
              name: resource,
              resources: [
                { resourceID: "a", health: "Healthy" },
                { resourceID: "b", health: "Unhealthy" },
                { resourceID: "lost", health: "Unknown" },
              ],
            },
          ],
        },
        container("plain"),
      ],
      initContainerStatuses: [
        {
          ...container("init"),
          allocatedResourcesStatus: [{ name: resource, resources: [{ resourceID: "a", health: "Healthy" }] }],
        },
      ],
    });
  });

  it("knows nothing about the devices of a plugin that is away", () => {
    const away = changedDevices(listed, { kind: "away", resource, at: monotonicMs(1) });
    const [main] = withDeviceHealth(status, hardware, away).containerStatuses ?? [];
    const states = main?.allocatedResourcesStatus?.[0]?.resources?.map(({ health }) => health);
    expect(states).toEqual(["Unknown", "Unknown", "Unknown"]);
  });

  it("leaves the status of a pod without devices as it is", () => {
    expect(withDeviceHealth(status, undefined, listed)).toBe(status);
    expect(withDeviceHealth(status, new Map([["main", { cpus: [1] }]]), listed)).toBe(status);
  });
});
