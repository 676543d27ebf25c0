/** Devices of a plugin on containerd: settings in the container, health, a crash of either side, a plugin that stays away. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import type { Container, Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { type DevicePluginOf, type DevicePluginProcess, startDevicePlugin } from "../support/devicePlugin.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, script } from "./manifests.ts";

const GPU = "example.com/gpu";
const RUN = `echo "devices $GPUS $(cat /gpu/name)"; trap exit TERM; while :; do sleep 0.1; done`;
const asks = (count: number): Partial<Container> => ({
  resources: { requests: { [GPU]: String(count) }, limits: { [GPU]: String(count) } },
});

describeOnContainerd("a device plugin on containerd", (installation) => {
  const node = containerdNode(installation, {});
  const plugins: DevicePluginProcess[] = [];
  afterEach(async () => {
    for (const plugin of plugins.splice(0)) await plugin.stop();
  });
  const directory = (): string => join(node.folder, "kubelet/device-plugins");
  const start = async (more: Partial<DevicePluginOf> = {}): Promise<DevicePluginProcess> => {
    const library = join(node.folder, "library");
    await writeFile(library, "library of example.com\n");
    await waitFor("kubelet.sock", () => existsSync(join(directory(), "kubelet.sock")));
    const plugin = await startDevicePlugin(directory(), {
      resource: GPU,
      socket: "gpu.sock",
      settings: (ids) => ({
        envs: { GPUS: ids.join("+") },
        mounts: [{ containerPath: "/gpu/name", hostPath: library, readOnly: true }],
        devices: [{ containerPath: "/dev/gpu", hostPath: "/dev/null", permissions: "rw" }],
      }),
      ...more,
    });
    plugins.push(plugin);
    return plugin;
  };
  const put = (name: string, count: number, text = RUN) =>
    node.daemon.put(`${name}.json`, manifest(name, { containers: [script("main", text, asks(count))] }));
  const runs = (name: string): Promise<Pod> =>
    node.daemon.until(name, ({ status }) => status?.phase === "Running", "Running");
  const drop = async (name: string): Promise<void> => {
    await node.daemon.drop(`${name}.json`);
    await waitFor(
      `${name} to be gone`,
      async () => !(await node.daemon.pods()).some(({ metadata }) => metadata.name.startsWith(name)),
    );
  };

  it("gives a container the devices with their settings, and no other container the same ones", async () => {
    const plugin = await start();
    plugin.list({ a: true, b: false, c: true });
    await plugin.register();
    await put("first", 1);
    const first = await runs("first");
    await node.untilOutput(first, "main", "devices a library of example.com");
    await put("second", 1);
    await node.untilOutput(await runs("second"), "main", "devices c library of example.com");
    expect(plugin.calls).toEqual(["Allocate a", "PreStart a", "Allocate c", "PreStart c"]);
    const isHealth = (health: string) => (pod: Pod) =>
      pod.status?.containerStatuses?.[0]?.allocatedResourcesStatus?.[0]?.resources?.[0]?.health === health;
    await node.daemon.until("second", isHealth("Healthy"), "healthy");
    plugin.list({ a: true, b: false, c: false });
    await node.daemon.until("second", isHealth("Unhealthy"), "unhealthy");
    plugin.list({ a: true, b: false, c: true });
    await put("third", 1);
    const third = await node.daemon.until("third", ({ status }) => status?.phase === "Failed", "Failed");
    // A static pod is critical, so the node looks for pods to preempt before it refuses.
    expect(third.status?.message).toContain(
      "no set of running pods found to reclaim resources: [(res: example.com/gpu",
    );
    await drop("third");
    await drop("first");

    // Neither side asks again after a crash: the checkpoint has the devices and their settings.
    await node.daemon.kill("SIGKILL");
    await plugin.stop();
    await node.daemon.restart();
    const file = await readFile(join(directory(), "kubelet_internal_checkpoint"), "utf8");
    expect(file).toContain('"DeviceIDs":{"-1":["c"]}');
    await put("waits", 1);
    const waits = await node.daemon.until(
      "waits",
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === "WaitingForResources",
      "waiting",
    );
    expect(waits.status?.containerStatuses?.[0]?.state?.waiting?.message).toContain(
      "Waiting for the device plugin of example.com/gpu",
    );
    const again = await start();
    again.list({ a: true, b: true, c: true });
    await again.register();
    await node.untilOutput(await runs("waits"), "main", "devices a library of example.com");
    expect(again.calls).toEqual(["Allocate a", "PreStart a"]);
    await drop("waits");
    await drop("second");
  });

  it("refuses a plugin of another version, or of a resource that Kubernetes has", async () => {
    const old = await start({ version: "v1alpha" });
    await expect(old.register()).rejects.toThrow('requested API version "v1alpha" is not supported by kubelet');
    const native = await start({ resource: "cpu", socket: "cpu.sock" });
    await expect(native.register()).rejects.toThrow('the ResourceName "cpu" is invalid');
    const health = await fetch(`${node.daemon.healthzUrl}/healthz/device-plugin`);
    expect([health.status, await health.text()]).toEqual([200, "ok"]);
  });
});
