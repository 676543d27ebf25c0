import { describe, expect, it } from "vitest";
import { idsOf, NO_ALLOCATIONS, withDeviceAllocation } from "../../../../src/core/device/deviceAllocations.ts";
import { decodeDeviceCheckpoint, encodeDeviceCheckpoint } from "../../../../src/core/device/deviceCheckpoint.ts";
import { changedDevices, NO_DEVICES } from "../../../../src/core/device/deviceState.ts";
import { ContainerAllocateResponse } from "../../../../src/gen/devicePlugin.ts";
import { podUid } from "../../../../src/core/ids.ts";

/** Files that upstream's kubelets wrote, with their checksums. */
const WITHOUT_PODS =
  '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{"nvidia.com/gpu":["GPU-0650a168-e770-3ea8-8ac3-8a1d419763e0"]}},"Checksum":3952659280}';
const WITHOUT_PLACE =
  '{"Data":{"PodDeviceEntries":[{"PodUID":"bf52b2cd-b611-4e79-86b1-280b283185c3","ContainerName":"check","ResourceName":"nvidia.com/gpu","DeviceIDs":{"-1":["tegra"]},"AllocResp":"Ch8KFk5WSURJQV9WSVNJQkxFX0RFVklDRVMSBXRlZ3Jh"}],"RegisteredDevices":{"nvidia.com/gpu":["tegra"]}},"Checksum":3660592824}';
const ON_A_NODE =
  '{"Data":{"PodDeviceEntries":[{"PodUID":"9a15d2b5-c152-46b9-96e0-d57032629e1f","ContainerName":"app","ResourceName":"nvidia.com/gpu","DeviceIDs":{"1":["GPU-9b341c59-f96b-ba85-c137-78c3652fea65","GPU-c1e9f249-b37b-81c2-a8d9-ba5ca0294841"]},"AllocResp":"CmsKFk5WSURJQV9WSVNJQkxFX0RFVklDRVMSUUdQVS1jMWU5ZjI0OS1iMzdiLTgxYzItYThkOS1iYTVjYTAyOTQ4NDEsR1BVLTliMzQxYzU5LWY5NmItYmE4NS1jMTM3LTc4YzM2NTJmZWE2NRokCg4vZGV2L252aWRpYWN0bBIOL2Rldi9udmlkaWFjdGwaAnJ3GiYKDy9kZXYvbnZpZGlhLXV2bRIPL2Rldi9udmlkaWEtdXZtGgJydxoyChUvZGV2L252aWRpYS11dm0tdG9vbHMSFS9kZXYvbnZpZGlhLXV2bS10b29scxoCcncaLgoTL2Rldi9udmlkaWEtbW9kZXNldBITL2Rldi9udmlkaWEtbW9kZXNldBoCcncaIAoML2Rldi9udmlkaWExEgwvZGV2L252aWRpYTEaAnJ3GiAKDC9kZXYvbnZpZGlhMhIML2Rldi9udmlkaWEyGgJydw=="}],"RegisteredDevices":{"nvidia.com/gpu":["GPU-77a702db-e37f-3a74-d46d-c5713f66058c","GPU-9b341c59-f96b-ba85-c137-78c3652fea65","GPU-c1e9f249-b37b-81c2-a8d9-ba5ca0294841"]}},"Checksum":2530956716}';

const decoded = (text: string, bootId = "") => {
  const outcome = decodeDeviceCheckpoint(text, bootId);
  if ("fault" in outcome) throw new Error(outcome.fault);
  return outcome.allocations;
};
const gpu = "nvidia.com/gpu";

describe("the checkpoint of devices", () => {
  it("is read from a file of upstream's kubelet", () => {
    expect(decoded(WITHOUT_PODS)).toEqual({ pods: new Map(), restored: [gpu] });
    const allocation = decoded(WITHOUT_PLACE)
      .pods.get(podUid("bf52b2cd-b611-4e79-86b1-280b283185c3"))
      ?.get("check")
      ?.get(gpu);
    expect(allocation?.ids).toEqual(new Map([[-1, ["tegra"]]]));
    expect(allocation?.response.envs).toEqual({ NVIDIA_VISIBLE_DEVICES: "tegra" });
    const placed = decoded(ON_A_NODE).pods.get(podUid("9a15d2b5-c152-46b9-96e0-d57032629e1f"))?.get("app")?.get(gpu);
    expect([...(placed?.ids.keys() ?? [])]).toEqual([1]);
    expect(placed?.response.devices.map(({ hostPath }) => hostPath)).toContain("/dev/nvidia2");
  });

  it("is written as upstream's kubelet wrote it, checksum included", () => {
    const ids = [
      "GPU-77a702db-e37f-3a74-d46d-c5713f66058c",
      "GPU-9b341c59-f96b-ba85-c137-78c3652fea65",
      "GPU-c1e9f249-b37b-81c2-a8d9-ba5ca0294841",
    ];
    const devices = changedDevices(NO_DEVICES, {
      kind: "listed",
      resource: gpu,
      endpoint: { socket: "/gpu.sock", preStartRequired: false, prefersDevices: false },
      devices: ids.map((id) => ({ id, isHealthy: true, nodes: [1] })),
    });
    expect(encodeDeviceCheckpoint(decoded(ON_A_NODE), devices, "")).toBe(ON_A_NODE);
  });

  it("survives a round trip with every kind of setting, in any alphabet", () => {
    const response = ContainerAllocateResponse.fromPartial({
      envs: { Ä: "1" },
      annotations: { "example.com/<a>": "b" },
      mounts: [{ containerPath: "/a", hostPath: "/b", readOnly: true }],
      cdiDevices: [{ name: "example.com/gpu=1" }],
    });
    const ids = new Map([
      [0, ["ä", "b c"]],
      [-1, ["😀"]],
    ]);
    const allocation = { ids, response, isStale: false };
    const allocations = withDeviceAllocation(NO_ALLOCATIONS, podUid("u"), ["main", "example.com/gpu"], allocation);
    const { pods, restored } = decoded(encodeDeviceCheckpoint(allocations, NO_DEVICES, "boot"), "boot");
    expect(pods.get(podUid("u"))?.get("main")?.get("example.com/gpu")).toEqual(allocation);
    expect(restored).toEqual(["example.com/gpu"]);
  });

  it("keeps the devices of before a restart of the machine, and has them prepared again", () => {
    const written = encodeDeviceCheckpoint(decoded(WITHOUT_PLACE), NO_DEVICES, "boot 1");
    const staleAt = (bootId: string) =>
      [...decoded(written, bootId).pods.values()].map((pod) => {
        const allocation = pod.get("check")?.get(gpu);
        return allocation && [idsOf(allocation), allocation.isStale];
      });
    expect(staleAt("boot 1")).toEqual([[["tegra"], false]]);
    expect(staleAt("boot 2")).toEqual([[["tegra"], true]]);
    const writtenAgain = encodeDeviceCheckpoint(decoded(written, "boot 2"), NO_DEVICES, "boot 2");
    const again = [...decoded(writtenAgain, "boot 2").pods.values()].map((pod) => pod.get("check")?.get(gpu)?.isStale);
    expect(again).toEqual([true]);
  });

  it.each([
    ["an empty file", ""],
    ["a cut file", WITHOUT_PLACE.slice(0, -30)],
    ["another file", '{"policyName":"none"}'],
    ["another version of the data", '{"Data":{"PodDeviceEntries":[{"PodUID":1}],"RegisteredDevices":{}},"Checksum":1}'],
    ["places that are no numbers", WITHOUT_PLACE.replace('"-1"', '"x"')],
    ["a changed device", WITHOUT_PLACE.replace('["tegra"]}', '["tegra2"]}')],
    ["a changed checksum", WITHOUT_PLACE.replace("3660592824", "3660592825")],
  ])("refuses %s", (_, text) => {
    expect(decodeDeviceCheckpoint(text, "")).toHaveProperty("fault");
  });
});
