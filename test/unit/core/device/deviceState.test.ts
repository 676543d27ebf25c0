import { describe, expect, it } from "vitest";
import {
  admissibleDevices,
  changedDevices,
  deviceAmounts,
  type DeviceChange,
  NO_DEVICES,
} from "../../../../src/core/device/deviceState.ts";
import { monotonicMs } from "../../../../src/core/ids.ts";

const resource = "example.com/gpu";
const endpoint = { socket: "/gpu.sock", preStartRequired: false, prefersDevices: false };
const lists = (...healthy: readonly boolean[]): DeviceChange => ({
  ...{ kind: "listed", resource, endpoint },
  devices: healthy.map((isHealthy, id) => ({ id: `d${id}`, isHealthy, nodes: [id] })),
});
const away: DeviceChange = { kind: "away", resource, at: monotonicMs(1) };
const gone: DeviceChange = { kind: "gone", resource };
const after = (...changes: readonly DeviceChange[]) => changes.reduce(changedDevices, NO_DEVICES);

describe("changedDevices", () => {
  it.each([
    { what: "all devices, the healthy ones allocatable", changes: [lists(true, false, true)], amounts: ["3", "2"] },
    {
      what: "no device to allocate once the plugin has stopped",
      changes: [lists(true, true), away],
      amounts: ["2", "0"],
    },
    {
      what: "nothing once it has not come back in time",
      changes: [lists(true, true), away, gone],
      amounts: ["0", "0"],
    },
    { what: "nothing after a restart of the kubelet, until the plugin lists", changes: [away], amounts: ["0", "0"] },
    {
      what: "the devices of a plugin that came back",
      changes: [lists(true), away, lists(true, true)],
      amounts: ["2", "2"],
    },
  ])("has $what", ({ changes, amounts }) => {
    const { capacity, allocatable } = deviceAmounts(after(...changes));
    expect([capacity[resource], allocatable[resource]]).toEqual(amounts);
  });

  it("is the same object after an equal list, and keeps when the plugin left", () => {
    const state = after(lists(true, false));
    expect(changedDevices(state, lists(true, false))).toBe(state);
    expect(changedDevices(state, lists(true, true))).not.toBe(state);
    const left = changedDevices(state, away);
    expect(changedDevices(left, { ...away, at: monotonicMs(99) })).toBe(left);
  });
});

describe("admissibleDevices", () => {
  it("compares with the healthy devices, with nothing once the plugin is gone, and not at all while it is away", () => {
    const amounts = { cpu: "1", [resource]: "7" };
    expect(admissibleDevices(amounts, NO_DEVICES)).toBe(amounts);
    expect(admissibleDevices(amounts, after(lists(true, false)))).toEqual({ cpu: "1", [resource]: "1" });
    expect(admissibleDevices(amounts, after(lists(true), away))).toEqual({ cpu: "1" });
    expect(admissibleDevices(amounts, after(lists(true), away, gone))).toEqual({ cpu: "1", [resource]: "0" });
  });
});
