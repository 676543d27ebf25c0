/** The GPUs of a tree of files and device nodes. */
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Gpu, MAX_GPUS } from "../../../src/core/gpu/gpus.ts";
import { createLook, watchGpus } from "../../../src/sources/gpus.ts";
import { addPciDevice, makeNode, mayMakeNodes, removePciDevice } from "../../support/gpuTree.ts";
import { realClock } from "../../support/realClock.ts";
import { IN_MEMORY, temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

const NVIDIA = { vendor: "0x10de", driver: "nvidia" };
const AMD = { vendor: "0x1002", driver: "amdgpu", class: "0x038000", drm: ["card0", "renderD128"] };
const shown = (gpus: readonly Gpu[]): readonly string[] =>
  gpus.map(({ id, isHealthy, own }) => `${id} ${own.join()} ${isHealthy}`);

describe.runIf(mayMakeNodes)("the GPUs of a machine", () => {
  const root = temporaryDirectory(IN_MEMORY);

  it("are found with their device nodes; other PCI devices are not looked at again", async () => {
    await addPciDevice(root(), "0000:3b:00.0", { ...NVIDIA, minor: 1, numaNode: "1" });
    await addPciDevice(root(), "0000:c1:00.0", AMD);
    await addPciDevice(root(), "0000:00:1f.0", { vendor: "0x8086", driver: "e1000e", class: "0x020000" });
    for (const path of ["/dev/nvidia1", "/dev/nvidiactl", "/dev/dri/renderD128", "/dev/kfd"])
      await makeNode(root(), path);
    const look = createLook(root());
    expect(await look()).toEqual([
      {
        ...{ id: "0000:3b:00.0", resource: "nvidia.com/gpu", numaNode: 1, own: ["/dev/nvidia1"] },
        ...{ shared: ["/dev/nvidiactl"], isHealthy: true },
      },
      {
        ...{ id: "0000:c1:00.0", resource: "amd.com/gpu", numaNode: undefined, own: ["/dev/dri/renderD128"] },
        ...{ shared: ["/dev/kfd"], isHealthy: true },
      },
    ]);
    await writeFile(join(root(), "sys/bus/pci/devices/0000:00:1f.0/vendor"), "0x10de\n");
    expect(shown(await look())).toHaveLength(2);
  });

  it("are unhealthy if a device node is a file or a link, and with endless or missing attributes they are none", async () => {
    await addPciDevice(root(), "0000:01:00.0", NVIDIA);
    await addPciDevice(root(), "0000:02:00.0", NVIDIA);
    await makeNode(root(), "/dev/nvidiactl");
    await writeFile(join(root(), "dev/nvidia0"), "");
    await symlink("/dev/null", join(root(), "dev/nvidia1"));
    const look = createLook(root());
    expect(shown(await look())).toEqual(["0000:01:00.0 /dev/nvidia0 false", "0000:02:00.0 /dev/nvidia1 false"]);
    const attribute = join(root(), "sys/bus/pci/devices/0000:01:00.0/class");
    await rm(attribute);
    await symlink("/dev/zero", attribute);
    await writeFile(join(root(), "sys/bus/pci/devices/0000:02:00.0/class"), "0x0302".padEnd(100_000, "0"));
    expect(await createLook(root())()).toEqual([]);
  });

  it("are bounded in number, and none without a PCI bus", async () => {
    expect(await createLook(root())()).toEqual([]);
    await mkdir(join(root(), "sys/bus/pci/devices"), { recursive: true });
    for (let bus = 0; bus < MAX_GPUS + 4; bus += 1) {
      const address = `0000:${(bus >> 3).toString(16).padStart(2, "0")}:00.${bus & 7}`;
      await addPciDevice(root(), address, NVIDIA);
    }
    expect(await createLook(root())()).toHaveLength(MAX_GPUS);
  });

  it("are followed: a GPU that loses its device node or vanishes is unhealthy", async () => {
    await addPciDevice(root(), "0000:01:00.0", NVIDIA);
    await makeNode(root(), "/dev/nvidiactl");
    await makeNode(root(), "/dev/nvidia0");
    let last: readonly string[] = [];
    const watch = watchGpus(root(), realClock).subscribe((gpus) => (last = shown(gpus)));
    const until = (...gpus: readonly string[]): Promise<true> =>
      waitFor(gpus.join("; "), () => JSON.stringify(last) === JSON.stringify(gpus));
    try {
      await until("0000:01:00.0 /dev/nvidia0 true");
      await rm(join(root(), "dev/nvidia0"));
      await until("0000:01:00.0 /dev/nvidia0 false");
      await makeNode(root(), "/dev/nvidia0");
      await until("0000:01:00.0 /dev/nvidia0 true");
      await removePciDevice(root(), "0000:01:00.0");
      await until("0000:01:00.0 /dev/nvidia0 false");
    } finally {
      watch.unsubscribe();
    }
  });
});
