/** Plugins that register over real sockets: one that works beside those that lie, hang, crash and come back. */
import { mkdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Subscription } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import type { RegisteredPlugins } from "../../src/core/plugins/registeredPlugins.ts";
import { RegistrationDefinition } from "../../src/gen/pluginRegistration.ts";
import { pluginManager } from "../../src/pipelines/plugins/pluginManager.ts";
import { createPluginRegistration } from "../../src/sinks/pluginRegistration.ts";
import { pluginSockets } from "../../src/sources/pluginSockets.ts";
import { createCell } from "../../src/state/cell.ts";
import { fixedRng } from "../support/fixedRng.ts";
import { type GrpcServer, startGrpcServer } from "../support/grpcServer.ts";
import { realClock } from "../support/realClock.ts";
import { recordingTelemetry } from "../support/recordingTelemetry.ts";
import { temporaryDirectory } from "../support/temporaryDirectory.ts";
import { waitFor } from "../support/waitFor.ts";

describe("plugins over real sockets", () => {
  const base = temporaryDirectory();
  const stops: (() => void)[] = [];
  let running: Subscription | undefined;
  afterEach(() => {
    running?.unsubscribe();
    for (const stop of stops.splice(0)) stop();
  });

  /** Starts a plugin; `notified` has the kubelet's notifications. */
  const plugin = async (file: string, answer: object) => {
    const notified: { readonly pluginRegistered: boolean; readonly error: string }[] = [];
    const server: GrpcServer = await startGrpcServer(join(base(), file), RegistrationDefinition, {
      getInfo: (_: unknown, reply: (failure: null, value: unknown) => void) =>
        reply(null, { type: "DevicePlugin", name: "", endpoint: "", supportedVersions: ["v1beta1"], ...answer }),
      notifyRegistrationStatus: (
        { request }: { readonly request: unknown },
        reply: (failure: null, value: unknown) => void,
      ) => {
        notified.push(request as (typeof notified)[number]);
        reply(null, {});
      },
    });
    stops.push(() => server.stop());
    return { notified, stop: () => server.stop() };
  };
  const start = () => {
    const cell = createCell<RegisteredPlugins>(new Map());
    const plugins = { sockets: pluginSockets(base()), registration: createPluginRegistration(realClock) };
    const ports = { clock: realClock, rng: fixedRng(), telemetry: recordingTelemetry(), plugins };
    running = pluginManager(
      ports,
      {
        DevicePlugin: {
          refusalOf: ({ versions }) => (versions.includes("v1beta1") ? undefined : "unsupported version"),
        },
      },
      cell,
    ).subscribe();
    return () => [...cell.value.values()].map(({ name }) => name).sort();
  };

  it("registers those that work at start and later, while others hang, lie or are too long", async () => {
    const early = await plugin("early.sock", { name: "example.com/early" });
    const old = await plugin("old.sock", { name: "example.com/old", supportedVersions: ["v0"] });
    const long = await plugin("long.sock", { name: "example.com/long", type: "x".repeat(100_000) });
    const deaf = createServer((socket) => socket.on("error", () => undefined));
    await new Promise<void>((resolve) => deaf.listen(join(base(), "deaf.sock"), resolve));
    stops.push(() => deaf.close());
    const registered = start();
    await waitFor("the early plugin", () => registered().join() === "example.com/early");
    await waitFor("its confirmation", () => early.notified.length === 1);
    expect(early.notified).toEqual([{ pluginRegistered: true, error: "" }]);
    await mkdir(join(base(), "late"));
    const late = await plugin("late/late.sock", { name: "example.com/late" });
    await waitFor("the late plugin", () => registered().join() === "example.com/early,example.com/late");
    expect(old.notified[0]?.error).toContain("unsupported version");
    expect(long.notified).toEqual([]);
    await waitFor("the confirmation", () => late.notified.length === 1);
  });

  it("deregisters a plugin whose socket is gone, and registers it when it comes back", async () => {
    const registered = start();
    const first = await plugin("gpu.sock", { name: "example.com/gpu" });
    await waitFor("the plugin", () => registered().length === 1);
    first.stop();
    await rm(join(base(), "gpu.sock"), { force: true });
    await waitFor("its end", () => registered().length === 0);
    const second = await plugin("gpu.sock", { name: "example.com/gpu" });
    await waitFor("its return", () => registered().length === 1);
    await waitFor("the confirmation", () => second.notified.length === 1);
  });
});
