/** Requests to drivers and their answers. */
import { describe, expect, it } from "vitest";
import type { ClaimInfo } from "../../../../src/core/dra/claimInfo.ts";
import {
  driverBatches,
  MAX_DEVICES,
  MAX_NAME_LENGTH,
  MAX_NAMES,
  preparedDevices,
  unpreparedClaims,
  wireClaims,
} from "../../../../src/core/dra/driverCalls.ts";
import { type Device, NodePrepareResourcesResponse, NodeUnprepareResourcesResponse } from "../../../../src/gen/dra.ts";

const infoOf = (name: string, ...drivers: readonly string[]): ClaimInfo => ({
  namespace: "demo",
  name,
  uid: `u-${name}`,
  podUids: new Set(["p"]),
  drivers: new Map(drivers.map((driver) => [driver, []])),
  isPrepared: false,
});
const infos = new Map(
  [infoOf("c1", "b", "a"), infoOf("c2", "a"), infoOf("c3")].map((info) => [`demo/${info.name}`, info]),
);
const batch = { driver: "a", claims: [infoOf("c1", "a"), infoOf("c2", "a")] };
const device: Device = {
  requestNames: ["r"],
  poolName: "pool",
  deviceName: "gpu-0",
  cdiDeviceIds: ["x/y=z"],
  shareId: undefined,
};
const answer = (claims: NodePrepareResourcesResponse["claims"]) =>
  preparedDevices(batch, NodePrepareResourcesResponse.fromPartial({ claims }));
const good = { devices: [device], error: "" };

describe("requests to drivers", () => {
  it("hold all claims of a driver, sorted by driver", () => {
    const batches = driverBatches(infos, ["demo/c1", "demo/c2", "demo/c3", "demo/unknown"]);
    expect(batches.map((each) => [each.driver, wireClaims(each)])).toEqual([
      [
        "a",
        [
          { namespace: "demo", uid: "u-c1", name: "c1" },
          { namespace: "demo", uid: "u-c2", name: "c2" },
        ],
      ],
      ["b", [{ namespace: "demo", uid: "u-c1", name: "c1" }]],
    ]);
  });
});

describe("answers to NodePrepareResources", () => {
  it("give the devices of each claim", () => {
    const { poolName, deviceName, requestNames, cdiDeviceIds } = device;
    expect(answer({ "u-c1": good, "u-c2": { devices: [{ ...device, shareId: "s" }], error: "" } })).toEqual({
      ok: true,
      value: new Map([
        ["demo/c1", [{ poolName, deviceName, requestNames, cdiDeviceIds }]],
        ["demo/c2", [{ poolName, deviceName, requestNames, cdiDeviceIds, shareId: "s" }]],
      ]),
    });
  });

  it.each<[what: string, claims: NodePrepareResourcesResponse["claims"], message: string]>([
    [
      "a claim failed",
      { "u-c1": good, "u-c2": { devices: [], error: "busy" } },
      "NodePrepareResources failed for ResourceClaim c2: busy",
    ],
    ["a claim is missing", { "u-c1": good }, "NodePrepareResources skipped 1 ResourceClaims"],
    ["all are missing", {}, "NodePrepareResources skipped 2 ResourceClaims"],
    [
      "a claim of somebody else",
      { "u-c1": good, "u-c2": good, x: good },
      "NodePrepareResources returned result for unknown claim UID x",
    ],
    [
      "a claim named like a member of all objects",
      { "u-c1": good, constructor: good },
      "NodePrepareResources returned result for unknown claim UID constructor",
    ],
    [
      "too many devices",
      { "u-c1": { devices: Array.from({ length: MAX_DEVICES + 1 }, () => device), error: "" }, "u-c2": good },
      `NodePrepareResources failed for ResourceClaim c1: the driver returned ${MAX_DEVICES + 1} devices, more than ${MAX_DEVICES}`,
    ],
    [
      "too many CDI devices",
      {
        "u-c1": good,
        "u-c2": { devices: [{ ...device, cdiDeviceIds: Array.from({ length: MAX_NAMES + 1 }, String) }], error: "" },
      },
      "NodePrepareResources failed for ResourceClaim c2: the driver returned a device with too many or too long names",
    ],
    [
      "a name without end",
      { "u-c1": good, "u-c2": { devices: [{ ...device, poolName: "x".repeat(MAX_NAME_LENGTH + 1) }], error: "" } },
      "NodePrepareResources failed for ResourceClaim c2: the driver returned a device with too many or too long names",
    ],
    [
      "an error without end",
      { "u-c1": { devices: [], error: "e".repeat(MAX_NAME_LENGTH * 2) }, "u-c2": good },
      `NodePrepareResources failed for ResourceClaim c1: ${"e".repeat(MAX_NAME_LENGTH)}`,
    ],
  ])("are refused: %s", (_, claims, message) => {
    const read = answer(claims);
    expect(read.ok ? undefined : read.error.message).toBe(message);
  });

  it("may be as large as the bounds", () => {
    const full = {
      ...device,
      cdiDeviceIds: Array.from({ length: MAX_NAMES }, String),
      poolName: "x".repeat(MAX_NAME_LENGTH),
    };
    const devices = Array.from({ length: MAX_DEVICES }, () => full);
    expect(answer({ "u-c1": { devices, error: "" }, "u-c2": good }).ok).toBe(true);
  });
});

describe("answers to NodeUnprepareResources", () => {
  it.each<
    [
      what: string,
      claims: NodeUnprepareResourcesResponse["claims"],
      done: readonly string[],
      message: string | undefined,
    ]
  >([
    ["both", { "u-c1": { error: "" }, "u-c2": { error: "" } }, ["demo/c1", "demo/c2"], undefined],
    [
      "one failed",
      { "u-c1": { error: "busy" }, "u-c2": { error: "" } },
      ["demo/c2"],
      "NodeUnprepareResources failed for ResourceClaim c1: busy",
    ],
    ["one is missing", { "u-c2": { error: "" } }, ["demo/c2"], "NodeUnprepareResources skipped 1 ResourceClaims"],
    [
      "one of somebody else",
      { "u-c1": { error: "" }, y: { error: "" } },
      [],
      "NodeUnprepareResources returned result for unknown claim UID y",
    ],
  ])("say which claims are done: %s", (_, claims, done, message) => {
    const read = unpreparedClaims(batch, NodeUnprepareResourcesResponse.fromPartial({ claims }));
    expect([read.done, read.error?.message]).toEqual([done, message]);
  });
});
