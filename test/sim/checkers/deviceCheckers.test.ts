import { describe, expect, it } from "vitest";
import { claimsPrepared } from "../../../src/sim/checkers/claimsPrepared.ts";
import { leakedDevices, openDevices } from "../../../src/sim/checkers/devicesSettle.ts";
import { ownDevices } from "../../../src/sim/checkers/ownDevices.ts";
import type { SimNode } from "../../../src/sim/simNode.ts";
import type { UntimedObservation } from "../../../src/sim/simObservation.ts";
import { containerOf } from "../../support/pods.ts";
import { change, verdicts, wanted } from "./observations.ts";

type Case = readonly [what: string, steps: readonly UntimedObservation[], found: readonly string[]];

const GPU = "example.com/gpu";
const DRIVER = "gpu.dra.example.com";

const plugin = (what: "lists" | "allocate", ...ids: readonly string[]): UntimedObservation => ({
  kind: "plugin",
  resource: GPU,
  what,
  ids,
});

/** A container of a pod is created with these devices and starts. */
function starts(uid: string, devices: readonly string[], part = "main#0"): readonly UntimedObservation[] {
  const made = change("container created", part, uid);
  const created = made.kind === "change" ? { ...made, change: { ...made.change, devices } } : made;
  return [created, change("container started", part, uid)];
}
const exits = (uid: string, part = "main#0") => change("container exited", part, uid);
const device = (id: string): string => `${GPU}=${id}`;

describe("ownDevices", () => {
  const pod = (uid: string, count: string) => ({
    uid,
    spec: { containers: [containerOf({ resources: { limits: { [GPU]: count } } })] },
  });
  const both = wanted(pod("a", "1"), pod("b", "1"));

  it.each<Case>([
    ["different devices", [...starts("a", [device("0")]), ...starts("b", [device("1")])], []],
    [
      "a device of two containers",
      [...starts("a", [device("0")]), ...starts("b", [device("0")])],
      ["demo/plain/main#0 and demo/plain/main#0 both have example.com/gpu=0"],
    ],
    [
      "a device whose container has exited",
      [...starts("a", [device("0")]), exits("a"), ...starts("b", [device("0")])],
      [],
    ],
    ["no device", starts("a", []), ["demo/plain/main#0 asks for 1 of example.com/gpu and has 0"]],
    [
      "another device after a restart",
      [...starts("a", [device("0")]), exits("a"), ...starts("a", [device("1")], "main#1")],
      ["demo/plain/main#1 had example.com/gpu=0 and has example.com/gpu=1 now"],
    ],
    [
      "a request for the device of a running container",
      [...starts("a", [device("0")]), plugin("allocate", "0")],
      ["the plugin of example.com/gpu is asked for 0 while demo/plain/main#0 has them"],
    ],
    [
      "a request for a device that no plugin has",
      [plugin("allocate", "7")],
      ["the plugin of example.com/gpu is asked for 7, which it never listed"],
    ],
  ])("judges %s", (_, steps, found) => {
    expect(verdicts(ownDevices(), [both, plugin("lists", "0", "1"), ...steps])).toEqual(found);
  });
});

describe("claimsPrepared", () => {
  const claiming = {
    uid: "a",
    spec: { containers: [containerOf()], resourceClaims: [{ name: "gpu", resourceClaimName: "gpu-1" }] },
  };
  const claim: UntimedObservation = { kind: "claim", name: "gpu-1", uid: "c", drivers: [DRIVER], podUids: ["a"] };
  const driver = (rpc: "prepare" | "unprepare", what: "asked" | "done"): UntimedObservation => ({
    ...{ kind: "driver", driver: DRIVER, rpc, what },
    claims: ["c"],
  });
  const boot: UntimedObservation = { kind: "boot" };
  const unprepared = "demo/plain/main#0 starts, but the claim gpu-1 is not prepared by gpu.dra.example.com";

  it.each<Case>([
    ["a start after the preparation", [claim, driver("prepare", "done"), ...starts("a", [])], []],
    ["a start while the driver works", [claim, driver("prepare", "asked"), ...starts("a", [])], [unprepared]],
    ["a start after a boot", [claim, driver("prepare", "done"), boot, ...starts("a", [])], [unprepared]],
    [
      "a start before the claim is reserved",
      starts("a", []),
      ["demo/plain/main#0 starts, but 0 of 1 claims are reserved"],
    ],
    ["a pod without claims", starts("b", []), []],
    [
      "a claim that is unprepared under a running container",
      [claim, driver("prepare", "done"), ...starts("a", []), driver("unprepare", "asked")],
      ["gpu.dra.example.com is asked to unprepare gpu-1 while demo/plain/main#0 runs"],
    ],
    [
      "a claim that is unprepared after the exit",
      [claim, driver("prepare", "done"), ...starts("a", []), exits("a"), driver("unprepare", "asked")],
      [],
    ],
  ])("judges %s", (_, steps, found) => {
    expect(verdicts(claimsPrepared(), [wanted(claiming), ...steps])).toEqual(found);
  });
});

describe("devicesSettle", () => {
  const config = { nodeName: "node", directories: { rootDir: "/r" } } as SimNode["config"];
  const node = (files: Readonly<Record<string, string>>) =>
    ({ config, files: { read: (path: string) => files[path] } }) as Pick<SimNode, "config" | "files">;
  const CHECKPOINT = "/r/device-plugins/kubelet_internal_checkpoint";

  it("names what is left of pods that are gone", () => {
    const files = {
      [CHECKPOINT]: JSON.stringify({ Data: { PodDeviceEntries: [{ PodUID: "a" }] } }),
      "/r/dra_manager_state": '{"Data":"PodUIDs"}',
    };
    expect(leakedDevices(node(files), { prepared: () => ["d c"] })).toEqual([
      "prepared claim: d c",
      "devices of the pod a",
      'claims in the checkpoint: {"Data":"PodUIDs"}',
    ]);
    expect(leakedDevices(node({}), { prepared: () => [] })).toEqual([]);
  });

  it("names resources that the Node lacks", () => {
    const amounts = { "example.com/gpu": "4", "example.com/nic": "6", "example.com/fpga": "3" };
    const server = (allocatable: Readonly<Record<string, string>>) =>
      ({ object: () => ({ status: { capacity: amounts, allocatable } }) }) as never;
    const count = (resource: string): number => Number(amounts[resource as keyof typeof amounts]);
    expect(openDevices({ config }, server(amounts), { count })).toEqual([]);
    expect(openDevices({ config }, server({ ...amounts, [GPU]: "1" }), { count })).toEqual([
      "the Node has 4, 1 of example.com/gpu (capacity, allocatable), its plugin 4",
    ]);
  });
});
