/** Registration of device plugins over real sockets. */
import { expect, it } from "vitest";
import type { DeviceRegistration } from "../../../src/ports/devicePlugins.ts";
import { createDevicePlugins } from "../../../src/sinks/devicePlugins.ts";
import { type DevicePluginOf, startDevicePlugin } from "../../support/devicePlugin.ts";
import { realClock } from "../../support/realClock.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const directoryOf = temporaryDirectory();

/** Registers a plugin; returns what the service emitted, and the answer that the plugin got. */
const register = async (more: Partial<DevicePluginOf>, refusal?: string) => {
  const directory = directoryOf();
  const items: DeviceRegistration[] = [];
  const serving = Promise.withResolvers<void>();
  const service = createDevicePlugins(directory, realClock)
    .serve(() => refusal)
    .subscribe((item) => {
      items.push(item.kind === "registered" ? { ...item, socket: item.socket.replace(directory, "") } : item);
      if (item.kind === "serving") serving.resolve();
    });
  await serving.promise;
  const plugin = await startDevicePlugin(directory, { resource: "example.com/gpu", socket: "gpu.sock", ...more });
  const answer = await plugin.register().catch(String);
  await plugin.stop();
  service.unsubscribe();
  return { items, answer };
};

it("registers a plugin after it has answered with its options", async () => {
  const { items, answer } = await register({});
  expect(answer).toBeUndefined();
  expect(items).toEqual([
    { kind: "serving" },
    {
      ...{ kind: "registered", resource: "example.com/gpu", socket: "/gpu.sock" },
      options: { preStartRequired: true, getPreferredAllocationAvailable: false },
    },
  ]);
});

it("refuses a plugin that fails in GetDevicePluginOptions, with its words, as upstream", async () => {
  const { items, answer } = await register({ optionsFault: "no driver" });
  expect(answer).toContain("failed to get device plugin options");
  expect(answer).toContain("no driver");
  expect(items).toEqual([{ kind: "serving" }]);
});

it("asks no plugin that is refused anyway", async () => {
  const { items, answer } = await register({ optionsFault: "asked" }, "it has another version");
  expect(answer).toContain("it has another version");
  expect(answer).not.toContain("asked");
  expect(items).toEqual([{ kind: "serving" }]);
});
