/** CSI drivers that register over real sockets: one that works beside those that lie, hang, fail and have other versions. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { merge, Subject, type Subscription } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import type { Node } from "../../src/core/api.ts";
import { type CsiDrivers, NO_CSI_DRIVERS } from "../../src/core/csi/csiDriverFacts.ts";
import type { RegisteredPlugins } from "../../src/core/plugins/registeredPlugins.ts";
import { createCsiRegistration } from "../../src/pipelines/csi/csiRegistration.ts";
import type { DriverLimit } from "../../src/pipelines/csi/volumeLimits.ts";
import { pluginEvents } from "../../src/pipelines/plugins/pluginHandlers.ts";
import { pluginManager } from "../../src/pipelines/plugins/pluginManager.ts";
import { createCsiDrivers } from "../../src/sinks/csiDrivers.ts";
import { createPluginRegistration } from "../../src/sinks/pluginRegistration.ts";
import { pluginSockets } from "../../src/sources/pluginSockets.ts";
import { createCell } from "../../src/state/cell.ts";
import { type CsiDriverOptions, startCsiDriver } from "../support/csiDriver.ts";
import { fixedRng } from "../support/fixedRng.ts";
import { realClock } from "../support/realClock.ts";
import { recordingTelemetry } from "../support/recordingTelemetry.ts";
import { temporaryDirectory } from "../support/temporaryDirectory.ts";
import { waitFor } from "../support/waitFor.ts";

describe("CSI drivers over real sockets", () => {
  const base = temporaryDirectory();
  const stops: (() => void)[] = [];
  let running: Subscription | undefined;
  afterEach(() => {
    running?.unsubscribe();
    for (const stop of stops.splice(0)) stop();
  });

  const driver = async (file: string, options: CsiDriverOptions) => {
    const started = await startCsiDriver(join(base(), file), options);
    stops.push(() => started.stop());
    return started;
  };
  const start = (labels: Readonly<Record<string, string>> = {}) => {
    const plugins = createCell<RegisteredPlugins>(new Map());
    const node = createCell<Node | undefined>({ metadata: { name: "n1", labels } });
    const drivers = createCell<CsiDrivers>(NO_CSI_DRIVERS);
    const telemetry = recordingTelemetry();
    const ports = {
      ...{ clock: realClock, rng: fixedRng(), telemetry },
      plugins: { sockets: pluginSockets(base()), registration: createPluginRegistration(realClock) },
      csiDrivers: createCsiDrivers({ clock: realClock, telemetry }),
    };
    const limits$ = new Subject<DriverLimit>();
    const csi = createCsiRegistration(ports, node, drivers);
    if (csi === undefined) throw new Error("no registration");
    running = merge(
      csi.follow(pluginEvents(plugins, "CSIPlugin"), limits$),
      pluginManager(ports, { CSIPlugin: csi }, plugins),
    ).subscribe();
    return { telemetry, drivers, limits$ };
  };

  it("takes over the current limit of a driver that is registered still, and forgets it with its socket", async () => {
    const changing = await driver("good.sock", { node: { maxVolumesPerNode: 5n } });
    const { drivers, limits$ } = start();
    await waitFor("the driver", () => changing.told[0]);
    const limit = { name: "csi.example.com", endpoint: join(base(), "good.sock"), maxVolumes: 3 };
    limits$.next({ ...limit, endpoint: "/another", maxVolumes: 1 });
    limits$.next({ ...limit, name: "another", maxVolumes: 1 });
    expect([...drivers.value.values()].map(({ maxVolumes }) => maxVolumes)).toEqual([5]);
    limits$.next(limit);
    const updated = drivers.value;
    expect([...updated.values()].map(({ maxVolumes }) => maxVolumes)).toEqual([3]);
    limits$.next(limit);
    expect(drivers.value).toBe(updated);
    changing.stop();
    await rm(join(base(), "good.sock"), { force: true });
    await waitFor("no driver", () => drivers.value.size === 0);
  });

  it("registers a driver with its facts, and forgets it with its socket", async () => {
    const segments = { "example.com/zone": "z" };
    const good = await driver("good.sock", {
      capabilities: ["STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS"],
      node: { nodeId: "n-7", maxVolumesPerNode: 5n, accessibleTopology: { segments } },
    });
    const { drivers, telemetry } = start();
    await waitFor("the outcome", () => good.told[0]);
    expect(good.told).toEqual([{ pluginRegistered: true, error: "" }]);
    expect([...drivers.value.values()]).toEqual([
      {
        name: "csi.example.com",
        endpoint: join(base(), "good.sock"),
        version: [1, 0, 0],
        vendorVersion: "v0",
        nodeId: "n-7",
        maxVolumes: 5,
        topology: segments,
        capabilities: new Set(["STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS"]),
      },
    ]);
    expect([...telemetry.observations.keys()]).toEqual(
      ["Identity/GetPluginInfo", "Node/NodeGetInfo", "Node/NodeGetCapabilities"].map(
        (rpc) =>
          `csi_operations_seconds{driver_name="csi.example.com",method_name="/csi.v1.${rpc}",grpc_status_code="OK",migrated="false"}`,
      ),
    );
    good.stop();
    await rm(join(base(), "good.sock"), { force: true });
    await waitFor("the end of the driver", () => drivers.value.size === 0);
  });

  it.each<[string, CsiDriverOptions, string]>([
    [
      "of another version",
      { versions: ["0.3.0"] },
      'RegisterPlugin error -- plugin validation failed with err: validation failed for CSI Driver csi.example.com at endpoint SOCKET: kubernetes.io/csi: ValidatePlugin for CSI driver "csi.example.com" failed. None of the versions specified ["0.3.0"] are supported. err=highest supported version reported is 0.3.0, must be v1.x',
    ],
    [
      "that calls itself otherwise",
      { fault: ({ rpc }) => (rpc === "getPluginInfo" ? { name: "other", vendorVersion: "" } : undefined) },
      'RegisterPlugin error -- plugin registration failed with err: the driver calls itself "other", but registers as "csi.example.com"',
    ],
    [
      "without a node ID",
      { node: { nodeId: "" } },
      "RegisterPlugin error -- plugin registration failed with err: error adding CSI driver node info: driverNodeID must not be empty",
    ],
    [
      "that fails",
      { fault: ({ rpc }) => (rpc === "nodeGetInfo" ? { code: 13, details: "broken disk" } : undefined) },
      "RegisterPlugin error -- plugin registration failed with err: rpc error: code = Internal desc = broken disk",
    ],
    [
      "at another place than the node",
      { node: { accessibleTopology: { segments: { zone: "b" } } } },
      'RegisterPlugin error -- plugin registration failed with err: detected topology value collision: driver reported "zone":"b" but existing label is "zone":"a"',
    ],
  ])("tells a driver %s why it is refused", async (_what, options, error) => {
    const bad = await driver("bad.sock", options);
    const good = await driver("good.sock", { name: "good.example.com" });
    const { drivers } = start({ zone: "a" });
    await waitFor("the outcomes", () => bad.told[0] !== undefined && good.told[0] !== undefined);
    expect(bad.told[0]).toEqual({ pluginRegistered: false, error: error.replace("SOCKET", join(base(), "bad.sock")) });
    expect([...drivers.value.keys()]).toEqual(["good.example.com"]);
  });

  it("registers a driver beside one that hangs, and one without the service Identity", async () => {
    await driver("hung.sock", {
      name: "hung.example.com",
      fault: ({ rpc }) => (rpc === "nodeGetInfo" ? "hang" : undefined),
    });
    const quiet = await driver("quiet.sock", {
      fault: ({ rpc }) => (rpc === "getPluginInfo" ? { code: 12, details: "unknown service" } : undefined),
    });
    const { drivers } = start();
    await waitFor("the outcome", () => quiet.told[0]);
    expect([...drivers.value.keys()]).toEqual(["csi.example.com"]);
  });
});
