/** The GPU manager on containerd, with a tree of GPUs whose device nodes are real: lifecycle, exclusive use, a vendor's plugin. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { Container, Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { startDevicePlugin } from "../support/devicePlugin.ts";
import { addPciDevice, makeNode } from "../support/gpuTree.ts";
import { podResourcesClient } from "../support/podResourcesClient.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, script } from "./manifests.ts";

const NVIDIA = { vendor: "0x10de", driver: "nvidia" };
const RUN = `echo "nodes $(cd /dev; ls -d nvidia* dri/* kfd 2>/dev/null | tr '\\n' ' ')"; echo x > /dev/nvidiactl && echo written; trap exit TERM; while :; do sleep 0.1; done`;
const asks = (resource: string, count: number): Partial<Container> => ({
  resources: { requests: { [resource]: String(count) }, limits: { [resource]: String(count) } },
});

describeOnContainerd("the GPU manager on containerd", (installation) => {
  let root = "";
  const node = containerdNode(installation, {
    args: async () => {
      root = await mkdtemp(join(tmpdir(), "rxlet-gpus-"));
      await addPciDevice(root, "0000:3b:00.0", { ...NVIDIA, minor: 0, numaNode: "0" });
      await addPciDevice(root, "0000:af:00.0", { ...NVIDIA, minor: 1, numaNode: "0" });
      await addPciDevice(root, "0000:c1:00.0", { vendor: "0x1002", driver: "amdgpu", drm: ["card0", "renderD128"] });
      for (const path of ["nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "dri/renderD128", "kfd"]) {
        await makeNode(root, `/dev/${path}`);
      }
      return ["--gpu-manager", "--gpu-manager-root", root];
    },
  });
  afterAll(() => rm(root, { recursive: true, force: true }));
  const put = (name: string, resource: string, count: number, text = RUN) =>
    node.daemon.put(`${name}.json`, manifest(name, { containers: [script("main", text, asks(resource, count))] }));
  const runs = (name: string): Promise<Pod> =>
    node.daemon.until(name, ({ status }) => status?.phase === "Running", "Running");
  const drop = async (name: string): Promise<void> => {
    await node.daemon.drop(`${name}.json`);
    await waitFor(
      `${name} to be gone`,
      async () => !(await node.daemon.pods()).some(({ metadata }) => metadata.name.startsWith(name)),
    );
  };
  const allocatable = async (): Promise<readonly string[]> => {
    const client = podResourcesClient(join(node.folder, "kubelet/pod-resources/kubelet.sock"));
    try {
      const { devices } = await client.allocatable();
      return devices.map(({ resourceName, deviceIds }) => `${resourceName} ${deviceIds.join()}`).toSorted();
    } finally {
      client.close();
    }
  };
  const healthOf = (health: string) => (pod: Pod) =>
    pod.status?.containerStatuses?.[0]?.allocatedResourcesStatus?.[0]?.resources?.[0]?.health === health;

  it("offers GPUs, each to one container, with its device nodes and their health", async () => {
    const all = ["amd.com/gpu 0000:c1:00.0", "nvidia.com/gpu 0000:3b:00.0", "nvidia.com/gpu 0000:af:00.0"];
    await waitFor("three GPUs", async () => JSON.stringify(await allocatable()) === JSON.stringify(all));
    await put("first", "nvidia.com/gpu", 1);
    const lines = await node.untilOutput(await runs("first"), "main", "written");
    expect(lines[0]).toBe("nodes nvidia-uvm nvidia0 nvidiactl ");
    await put("amd", "amd.com/gpu", 1, RUN.replace("> /dev/nvidiactl", "> /dev/kfd"));
    const others = await node.untilOutput(await runs("amd"), "main", "written");
    expect(others[0]).toBe("nodes dri/renderD128 kfd ");
    await put("greedy", "nvidia.com/gpu", 2);
    const greedy = await node.daemon.until("greedy", ({ status }) => status?.phase === "Failed", "Failed");
    expect(greedy.status?.message).toContain("nvidia.com/gpu");
    await drop("greedy");
    await node.daemon.until("first", healthOf("Healthy"), "healthy");
    await rm(join(root, "dev/nvidia0"));
    await node.daemon.until("first", healthOf("Unhealthy"), "unhealthy");
    await makeNode(root, "/dev/nvidia0");
    await node.daemon.until("first", healthOf("Healthy"), "healthy again");

    // A restart keeps who has which GPU.
    await node.daemon.kill("SIGKILL");
    await node.daemon.restart();
    await put("second", "nvidia.com/gpu", 1);
    const [second] = await node.untilOutput(await runs("second"), "main", "written");
    expect(second).toBe("nodes nvidia-uvm nvidia1 nvidiactl ");
    await drop("second");

    // A vendor's plugin is refused while pods have GPUs of the manager, and takes over afterwards.
    const directory = join(node.folder, "kubelet/device-plugins");
    await waitFor("kubelet.sock", () => existsSync(join(directory, "kubelet.sock")));
    const vendor = await startDevicePlugin(directory, { resource: "nvidia.com/gpu", socket: "nvidia.sock" });
    try {
      vendor.list({ "GPU-0": true });
      await expect(vendor.register()).rejects.toThrow("that the GPU manager of the kubelet gave them");
      await drop("first");
      await waitFor("the plugin to register", () =>
        vendor.register().then(
          () => true,
          () => false,
        ),
      );
      await waitFor("the vendor's GPU", async () => (await allocatable()).includes("nvidia.com/gpu GPU-0"));
      expect((await allocatable()).filter((device) => device.startsWith("nvidia"))).toEqual(["nvidia.com/gpu GPU-0"]);
      const entries = await node.daemon.logEntries();
      expect(entries.map(({ msg }) => msg)).toContain("The GPU manager does not offer the GPUs of a resource");
    } finally {
      await vendor.stop();
    }
    await drop("amd");
  });
});
