/** Drivers of Dynamic Resource Allocation over real sockets: both versions, crashes, rolling updates, health. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { BehaviorSubject, EMPTY, firstValueFrom, type Subscription } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import type { DraPlugin } from "../../../src/core/dra/driverServices.ts";
import { toKubeletError } from "../../../src/core/errors.ts";
import {
  type Claim,
  DRAPluginDefinition,
  DRAPluginV1beta1Definition,
  DRAResourceHealthDefinition,
  HealthStatus,
  NodePrepareResourcesResponse,
  NodeUnprepareResourcesResponse,
  NodeWatchResourcesResponse,
} from "../../../src/gen/dra.ts";
import type { DraDriver, DraDriverMap } from "../../../src/ports/draDrivers.ts";
import { createDraDrivers } from "../../../src/sinks/draDrivers.ts";
import { startGrpcServer } from "../../support/grpcServer.ts";
import { realClock } from "../../support/realClock.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

type Reply = (failure: { readonly code: number; readonly details: string } | null, value?: unknown) => void;

const V1 = "v1.DRAPlugin";
const V1BETA1 = "v1beta1.DRAPlugin";
const claim: Claim = { namespace: "default", uid: "u-1", name: "gpu" };

describe("drivers over real sockets", () => {
  const base = temporaryDirectory();
  const stops: (() => void)[] = [];
  let running: Subscription | undefined;
  afterEach(() => {
    running?.unsubscribe();
    for (const stop of stops.splice(0)) stop();
  });

  /** Starts a driver that answers with its own name as device. */
  const serve = async (file: string, definition: Parameters<typeof startGrpcServer>[1]) => {
    const asked: Claim[][] = [];
    const of = (request: unknown): Claim[] => [...(request as { readonly claims: readonly Claim[] }).claims];
    const server = await startGrpcServer(join(base(), file), definition, {
      nodePrepareResources: ({ request }: { readonly request: unknown }, reply: Reply) => {
        asked.push(of(request));
        const devices = [{ poolName: "p", deviceName: "d", requestNames: [], cdiDeviceIds: [`v/c=${file}`] }];
        const claims = Object.fromEntries(of(request).map(({ uid }) => [uid, { devices }]));
        reply(null, NodePrepareResourcesResponse.fromPartial({ claims }));
      },
      nodeUnprepareResources: ({ request }: { readonly request: unknown }, reply: Reply) => {
        const claims = Object.fromEntries(of(request).map(({ uid }) => [uid, { error: "" }]));
        reply(null, NodeUnprepareResourcesResponse.fromPartial({ claims }));
      },
    });
    stops.push(() => server.stop());
    return { asked, stop: () => server.stop() };
  };
  const pluginOf = (file: string, ...services: readonly string[]): DraPlugin => ({
    name: "gpu.example.com",
    endpoint: join(base(), file),
    services,
  });
  const start = (...plugins: readonly DraPlugin[]) => {
    const registered = new BehaviorSubject<readonly DraPlugin[]>(plugins);
    const telemetry = recordingTelemetry();
    let drivers: DraDriverMap = new Map();
    running = createDraDrivers({ clock: realClock, telemetry })
      .follow(registered)
      .subscribe((known) => (drivers = known));
    return {
      registered,
      telemetry,
      driver: (): DraDriver | undefined => drivers.get("gpu.example.com"),
      connected: () =>
        waitFor("a connection", () => {
          const driver = drivers.get("gpu.example.com");
          return driver?.isConnected === true ? driver : undefined;
        }),
    };
  };
  const devicesOf = ({ claims }: NodePrepareResourcesResponse) => claims["u-1"]?.devices[0]?.cdiDeviceIds;

  it.each([
    ["v1beta1 first", [V1BETA1, V1], DRAPluginV1beta1Definition, "k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin"],
    ["v1 first", [V1, V1BETA1], DRAPluginDefinition, "k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin"],
    [
      "v1beta1 alone",
      [V1BETA1, "v1alpha1.DRAResourceHealth"],
      DRAPluginV1beta1Definition,
      "k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin",
    ],
  ] as const)(
    "prepares and unprepares with the service that the plugin names first: %s",
    async (_, services, definition, path) => {
      const { asked } = await serve("a.sock", definition);
      const { connected, telemetry } = start(pluginOf("a.sock", ...services));
      const driver = await connected();
      expect(devicesOf(await firstValueFrom(driver.prepare([claim])))).toEqual(["v/c=a.sock"]);
      expect((await firstValueFrom(driver.unprepare([claim]))).claims).toEqual({ "u-1": { error: "" } });
      expect(asked).toEqual([[claim]]);
      expect([...telemetry.observations.keys()]).toEqual(
        ["NodePrepareResources", "NodeUnprepareResources"].map(
          (rpc) =>
            `dra_grpc_operations_duration_seconds{driver_name="gpu.example.com",method_name="/${path}/${rpc}",grpc_status_code="OK"}`,
        ),
      );
    },
  );

  it("is seen to crash and to come back", async () => {
    const first = await serve("a.sock", DRAPluginDefinition);
    const { connected, driver } = start(pluginOf("a.sock", V1));
    await connected();
    first.stop();
    await rm(join(base(), "a.sock"), { force: true });
    await waitFor("the end of the connection", () => driver()?.isConnected === false);
    const failed = await firstValueFrom(driver()?.prepare([claim]) ?? EMPTY).catch(toKubeletError);
    expect(failed).toMatchObject({ code: "Unavailable" });
    await serve("a.sock", DRAPluginDefinition);
    expect(devicesOf(await firstValueFrom((await connected()).prepare([claim])))).toEqual(["v/c=a.sock"]);
  });

  it("may be updated without a gap: calls go to the latest plugin that is connected", async () => {
    await serve("old.sock", DRAPluginDefinition);
    const [old, next] = [pluginOf("old.sock", V1), pluginOf("new.sock", V1)];
    const { connected, registered, driver } = start(old);
    await connected();
    registered.next([old, next]);
    expect(devicesOf(await firstValueFrom((await connected()).prepare([claim])))).toEqual(["v/c=old.sock"]);
    await serve("new.sock", DRAPluginDefinition);
    await waitFor("the new plugin", async () => {
      const answer = await firstValueFrom((await connected()).prepare([claim]));
      return devicesOf(answer)?.[0] === "v/c=new.sock";
    });
    registered.next([next]);
    expect(devicesOf(await firstValueFrom((await connected()).prepare([claim])))).toEqual(["v/c=new.sock"]);
    registered.next([]);
    expect(driver()).toBeUndefined();
  });

  it("has health if it serves it", async () => {
    const report = NodeWatchResourcesResponse.fromPartial({
      devices: [{ device: { poolName: "p", deviceName: "d" }, health: HealthStatus.UNHEALTHY, message: "hot" }],
    });
    const server = await startGrpcServer(join(base(), "h.sock"), DRAResourceHealthDefinition, {
      nodeWatchResources: (call: { write(message: unknown): boolean }) => void call.write(report),
    });
    stops.push(() => server.stop());
    const { connected } = start(pluginOf("h.sock", V1));
    expect(await firstValueFrom((await connected()).health$)).toEqual(report);
  });

  it("has none if it does not", async () => {
    await serve("a.sock", DRAPluginDefinition);
    const { connected } = start(pluginOf("a.sock", V1));
    const failed = await firstValueFrom((await connected()).health$).catch(toKubeletError);
    expect(failed).toMatchObject({ code: "Unimplemented" });
  });

  it.each([
    ["of another API", pluginOf("a.sock", "v1alpha4.DRAPlugin")],
    ["whose path no socket can have", { ...pluginOf("a.sock", V1), endpoint: `/${"x".repeat(200)}` }],
  ])("leaves out a plugin %s, and says so", (_, plugin) => {
    const { driver, telemetry } = start(plugin);
    expect([driver(), telemetry.lines.map(({ message }) => message)]).toEqual([undefined, ["Cannot use a DRA driver"]]);
  });
});
