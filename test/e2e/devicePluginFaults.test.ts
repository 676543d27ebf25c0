/** Device plugins that choose, lie, fail, hang, crash and list ten thousand devices, over real sockets on containerd. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import type { Container, Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { type DevicePluginOf, type DevicePluginProcess, startDevicePlugin } from "../support/devicePlugin.ts";
import { podResourcesClient } from "../support/podResourcesClient.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, script } from "./manifests.ts";

const GPU = "example.com/gpu";
const NIC = "example.com/nic";
const RUN = `echo "devices $IDS"; trap exit TERM; while :; do sleep 0.1; done`;
const asks = (resource: string, count: number): Partial<Container> => ({
  resources: { requests: { [resource]: String(count) }, limits: { [resource]: String(count) } },
});

describeOnContainerd("device plugins that misbehave", (installation) => {
  const node = containerdNode(installation, {});
  const plugins: DevicePluginProcess[] = [];
  afterEach(async () => {
    for (const plugin of plugins.splice(0)) await plugin.stop();
  });
  const directory = (): string => join(node.folder, "kubelet/device-plugins");
  const start = async (more: Partial<DevicePluginOf> = {}): Promise<DevicePluginProcess> => {
    await waitFor("kubelet.sock", () => existsSync(join(directory(), "kubelet.sock")));
    const plugin = await startDevicePlugin(directory(), {
      ...{ resource: GPU, socket: "gpu.sock", settings: (ids) => ({ envs: { IDS: ids.slice(0, 4).join("+") } }) },
      ...more,
    });
    plugins.push(plugin);
    return plugin;
  };
  const put = (name: string, count: number, resource = GPU) =>
    node.daemon.put(`${name}.json`, manifest(name, { containers: [script("main", RUN, asks(resource, count))] }));
  const output = async (name: string, line: string): Promise<unknown> => {
    const isRunning = ({ status }: Pod): boolean => status?.phase === "Running";
    return node.untilOutput(await node.daemon.until(name, isRunning, "Running"), "main", line);
  };
  const rejected = async (name: string): Promise<Pod["status"]> =>
    (await node.daemon.until(name, ({ status }) => status?.phase === "Failed", "Failed")).status;
  const drop = async (name: string): Promise<void> => {
    await node.daemon.drop(`${name}.json`);
    await node.daemon.untilGone(name);
  };
  const allocatable = async (resource: string): Promise<readonly string[]> => {
    const client = podResourcesClient(join(node.folder, "kubelet/pod-resources/kubelet.sock"));
    try {
      const { devices } = await client.allocatable();
      return devices.filter(({ resourceName }) => resourceName === resource).flatMap(({ deviceIds }) => deviceIds);
    } finally {
      client.close();
    }
  };
  const listed = (resource: string, count: number): Promise<unknown> =>
    waitFor(`${count} devices`, async () => (await allocatable(resource)).length === count);

  it("lets a plugin choose, and is not misled by ids that it was not offered", async () => {
    let answer: readonly string[] = ["c"];
    const plugin = await start({ prefers: () => answer });
    plugin.list({ a: true, b: true, c: true, d: true });
    await plugin.register();
    await listed(GPU, 4);
    await put("chosen", 1);
    await output("chosen", "devices c");
    answer = ["x", "c", "b", "b", "d", "a"];
    await put("misled", 2);
    await output("misled", "devices b+d");
    expect(plugin.calls.filter((call) => !call.startsWith("PreStart"))).toEqual([
      ...["Prefer 1 of 4", "Allocate c", "Prefer 2 of 3", "Allocate b,d"],
    ]);
    await drop("chosen");
    await drop("misled");
  });

  it("rejects a pod whose plugin fails or answers nonsense, and gives its devices to the next one", async () => {
    const plugin = await start();
    plugin.list({ a: true });
    await plugin.register();
    await listed(GPU, 1);
    plugin.misbehave({ fails: "the device is on fire" });
    await put("failing", 1);
    expect(await rejected("failing")).toMatchObject({
      reason: "UnexpectedAdmissionError",
      message:
        "Pod was rejected: Allocate failed due to rpc error: code = Unknown desc = the device is on fire, " +
        "which is unexpected",
    });
    expect(await node.daemon.events("failing")).toMatchObject([
      { type: "Warning", reason: "UnexpectedAdmissionError" },
    ]);
    plugin.misbehave("empty");
    await put("empty", 1);
    expect((await rejected("empty"))?.message).toContain("due to no containers return in allocation response");
    plugin.misbehave(undefined);
    await put("works", 1);
    await output("works", "devices a");
    for (const name of ["failing", "empty", "works"]) await drop(name);
  });

  it("reports a plugin that hangs, while pods of others start, and gives up once the pod is removed", async () => {
    const [slow, quick] = [await start(), await start({ resource: NIC, socket: "nic.sock" })];
    for (const plugin of [slow, quick]) {
      plugin.list({ a: true });
      await plugin.register();
    }
    await listed(GPU, 1);
    await listed(NIC, 1);
    slow.misbehave("hangs");
    await put("hangs", 1);
    await put("other", 1, NIC);
    await output("other", "devices a");
    const waits = await node.daemon.until(
      "hangs",
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === "WaitingForResources",
      "reported",
    );
    expect(waits.status?.containerStatuses?.[0]?.state?.waiting?.message).toContain(
      "the device plugin of example.com/gpu",
    );
    await drop("hangs");
    slow.misbehave(undefined);
    await put("next", 1);
    await output("next", "devices a");
    await drop("next");
    await drop("other");
  });

  it("has ten thousand devices of one plugin, also after it crashed and started again", async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`device-${index}`, true]));
    const prefers = (available: readonly string[], _: readonly string[], size: number) => available.slice(-size);
    const plugin = await start({ prefers });
    plugin.list(many);
    await plugin.register();
    await listed(GPU, 10_000);
    await put("many", 5_000);
    await output("many", "devices device-5000+device-5001+device-5002+device-5003");
    await plugin.stop();
    await listed(GPU, 0);
    const again = await start({ prefers });
    again.list({ ...many, "device-0": false });
    await again.register();
    await listed(GPU, 9_999);
    await put("rest", 4_999);
    await output("rest", "devices device-1+device-2+device-3+device-4");
    await put("none", 1);
    expect((await rejected("none"))?.message).toContain(GPU);
    for (const name of ["many", "rest", "none"]) await drop(name);
  });
});
