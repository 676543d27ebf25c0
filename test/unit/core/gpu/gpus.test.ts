/** GPUs among the PCI devices of a machine, their device nodes and their health; the tree is data of the kernel. */
import { describe, expect, it } from "vitest";
import {
  allocateGpus,
  type Gpu,
  gpuListing,
  gpusOf,
  MAX_GPUS,
  nodesToCheck,
  type PciDevice,
  withVanished,
} from "../../../../src/core/gpu/gpus.ts";

const nvidia = (address: string, more: Partial<PciDevice> = {}): PciDevice => ({
  ...{ address, vendor: "0x10de", class: "0x030200", driver: "nvidia", numaNode: "-1", drm: [] },
  information: undefined,
  ...more,
});
const amd = (address: string, more: Partial<PciDevice> = {}): PciDevice => ({
  ...{ address, vendor: "0x1002", class: "0x120000", driver: "amdgpu", numaNode: "1" },
  ...{ drm: ["card1", "renderD129"], information: undefined },
  ...more,
});
const found = (devices: readonly PciDevice[], missing: readonly string[] = []): readonly Gpu[] =>
  gpusOf(devices, new Set(nodesToCheck(devices).filter((path) => !missing.includes(path))));

describe("gpusOf", () => {
  it("finds the GPUs of both vendors, with their device nodes and NUMA nodes", () => {
    const shared = ["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"];
    expect(found([amd("0000:c1:00.0"), nvidia("0000:3b:00.0", { numaNode: "0" })])).toEqual([
      { id: "0000:3b:00.0", resource: "nvidia.com/gpu", numaNode: 0, own: ["/dev/nvidia0"], shared, isHealthy: true },
      {
        ...{ id: "0000:c1:00.0", resource: "amd.com/gpu", numaNode: 1, own: ["/dev/dri/renderD129"] },
        ...{ shared: ["/dev/kfd"], isHealthy: true },
      },
    ]);
  });

  it.each<[title: string, device: PciDevice]>([
    ["of another vendor", nvidia("0000:00:02.0", { vendor: "0x8086" })],
    ["of another class, such as the sound of a GPU", nvidia("0000:3b:00.1", { class: "0x040300" })],
    ["given to virtual machines", nvidia("0000:3b:00.0", { driver: "vfio-pci" })],
    ["without a driver", nvidia("0000:3b:00.0", { driver: undefined })],
    ["without a readable kind", nvidia("0000:3b:00.0", { vendor: undefined, class: undefined })],
    ["whose name is no PCI address", nvidia("../../etc")],
  ])("finds no GPU in a device %s", (_, device) => {
    expect(found([device])).toEqual([]);
  });

  it("takes the device nodes of NVIDIA from its driver, else in the order of addresses", () => {
    const numbered = (minor: string) => ({ information: `Model: \t\t A\nDevice Minor: \t ${minor}\nGPU Excluded: No` });
    const own = (devices: readonly PciDevice[]) => found(devices).map((gpu) => gpu.own[0]);
    expect(own([nvidia("0000:af:00.0"), nvidia("0000:3b:00.0")])).toEqual(["/dev/nvidia0", "/dev/nvidia1"]);
    expect(own([nvidia("0000:3b:00.0", numbered("3")), nvidia("0000:af:00.0", numbered("0"))])).toEqual([
      "/dev/nvidia3",
      "/dev/nvidia0",
    ]);
    // Once the driver numbers some, a guess could give out the node of another GPU.
    expect(own([nvidia("0000:3b:00.0"), nvidia("0000:af:00.0", numbered("../x"))])).toEqual([
      "/dev/nvidia0",
      "/dev/nvidia1",
    ]);
    expect(own([nvidia("0000:3b:00.0"), nvidia("0000:af:00.0", numbered("0"))])).toEqual([undefined, "/dev/nvidia0"]);
  });

  it.each([
    ["its own device node", "/dev/nvidia0"],
    ["a node that all need", "/dev/nvidiactl"],
  ])("finds a GPU unhealthy without %s", (_, path) => {
    expect(found([nvidia("0000:3b:00.0")], [path])).toMatchObject([{ id: "0000:3b:00.0", isHealthy: false }]);
  });

  it("finds a GPU healthy without an optional node, which its containers do not get", () => {
    expect(found([nvidia("0000:3b:00.0")], ["/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"])).toMatchObject([
      { isHealthy: true, shared: ["/dev/nvidiactl", "/dev/nvidia-uvm"] },
    ]);
  });

  it.each(["-1", "x", "", "1.5", "99999", undefined])("gives a GPU of the NUMA node %j no place", (numaNode) => {
    expect(found([nvidia("0000:3b:00.0", { numaNode })])).toMatchObject([{ numaNode: undefined }]);
  });

  it("ignores names below drm that are no render node", () => {
    const drm = ["card1", "renderD1/../x", "renderD99999", "renderD130"];
    expect(found([amd("0000:c1:00.0", { drm })])[0]?.own).toEqual(["/dev/dri/renderD130"]);
    expect(found([amd("0000:c1:00.0", { drm: [] })])).toMatchObject([{ own: [], isHealthy: false }]);
  });

  it("offers a bounded number of GPUs", () => {
    const address = (index: number): string => `0000:${index.toString(16).padStart(4, "0").replace(/^(..)/, "$1:")}.0`;
    const devices = Array.from({ length: MAX_GPUS + 40 }, (_, index) => nvidia(address(index)));
    expect(found(devices)).toHaveLength(MAX_GPUS);
    const others = Array.from({ length: MAX_GPUS }, (_, index) => ({
      ...found([nvidia(`0001:00:00.0`)])[0],
      id: `${index}`,
    }));
    expect(withVanished(others as Gpu[], found(devices))).toHaveLength(MAX_GPUS);
  });
});

describe("a GPU that vanishes", () => {
  it("stays in the list, and is unhealthy until it comes back", () => {
    const both = found([nvidia("0000:3b:00.0"), amd("0000:c1:00.0")]);
    const left = withVanished(both, both.slice(1));
    expect(gpuListing(left, "nvidia.com/gpu")).toEqual({
      devices: [{ ID: "0000:3b:00.0", health: "Unhealthy", topology: undefined }],
    });
    expect(gpuListing(left, "amd.com/gpu").devices).toEqual([
      { ID: "0000:c1:00.0", health: "Healthy", topology: { nodes: [{ ID: 1n }] } },
    ]);
    expect(withVanished(left, both)).toEqual(both);
  });
});

describe("allocateGpus", () => {
  const gpus = found([nvidia("0000:3b:00.0"), nvidia("0000:af:00.0"), amd("0000:c1:00.0")], ["/dev/nvidia-modeset"]);

  it("gives a container the nodes of its GPUs, each once, to read and write", () => {
    const allocated = allocateGpus(gpus, "nvidia.com/gpu", ["0000:af:00.0", "0000:3b:00.0"], "/host");
    const node = (path: string) => ({ containerPath: path, hostPath: `/host${path}`, permissions: "rw" });
    const paths = ["/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia0"];
    expect(allocated).toEqual({
      ok: true,
      value: { envs: {}, mounts: [], annotations: {}, cdiDevices: [], devices: paths.map(node) },
    });
  });

  it.each([
    ["that does not exist", "0000:00:00.0", "the GPU 0000:00:00.0 does not exist"],
    ["of the other vendor", "0000:c1:00.0", "the GPU 0000:c1:00.0 does not exist"],
    ["that does not work", "0000:3b:00.0", "the GPU 0000:3b:00.0 does not work"],
  ])("refuses a GPU %s", (title, id, why) => {
    const now = title.endsWith("work") ? withVanished(gpus, []) : gpus;
    expect(allocateGpus(now, "nvidia.com/gpu", [id], "")).toMatchObject({
      error: { message: `rpc error: code = Unknown desc = ${why}` },
    });
  });
});
