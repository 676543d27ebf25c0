/** Devices as plugins list them: registration, health, a plugin that stops, hangs, floods or comes back. */
import { NEVER, type Observable, of } from "rxjs";
import { describe, expect, it } from "vitest";
import type { DeviceAllocations } from "../../../../src/core/device/deviceAllocations.ts";
import { deviceAmounts, type DeviceState, NO_DEVICES } from "../../../../src/core/device/deviceState.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { RegisteredPlugins } from "../../../../src/core/plugins/registeredPlugins.ts";
import { DevicePluginOptions, ListAndWatchResponse } from "../../../../src/gen/devicePlugin.ts";
import { followDevices } from "../../../../src/pipelines/devices/followDevices.ts";
import type { DevicePlugins, DeviceRegistration } from "../../../../src/ports/devicePlugins.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { marbles, type Marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const GPU = "example.com/gpu";
const list = (...healthy: readonly boolean[]): ListAndWatchResponse =>
  ListAndWatchResponse.fromPartial({
    devices: healthy.map((it, id) => ({ ID: `d${id}`, health: it ? "Healthy" : "Unhealthy" })),
  });
const lists = { a: list(true, true), b: list(true, false), c: list(true) };
const registered = (socket = "/gpu.sock", resource = GPU): DeviceRegistration => ({
  kind: "registered",
  resource,
  socket,
});
const registrations = {
  s: { kind: "serving" } as const,
  g: registered(),
  o: { ...registered(), options: DevicePluginOptions.fromPartial({ getPreferredAllocationAvailable: true }) },
  b: { ...registered(), isBuiltIn: true },
  h: registered("/hangs.sock", "example.com/h"),
};

type Streams = Readonly<Record<string, readonly (() => Observable<ListAndWatchResponse>)[]>>;

/** A node with plugins at sockets; each call of a plugin gets its next stream, the last one for ever. */
function world(m: Marbles, diagram: string, streams: Streams, restored: readonly string[] = []) {
  const { clock } = m;
  const telemetry = recordingTelemetry();
  const devices = createCell<DeviceState>(NO_DEVICES);
  const plugins = createCell<RegisteredPlugins>(new Map());
  const deviceAllocations = createCell<DeviceAllocations | undefined>({ pods: new Map(), restored });
  const devicePluginProblem = createCell<string | undefined>(undefined);
  const calls: string[] = [];
  const port: Pick<DevicePlugins, "serve" | "options" | "listAndWatch"> = {
    serve: () => m.cold(diagram, registrations),
    options: (socket) => {
      calls.push(`${clock.monotonicMs()} options of ${socket}`);
      return of(DevicePluginOptions.fromPartial({ preStartRequired: true }));
    },
    listAndWatch: (socket) => {
      calls.push(`${clock.monotonicMs()} ${socket}`);
      const own = streams[socket] ?? [];
      const nth = calls.filter((call) => call.endsWith(` ${socket}`) && !call.includes("options")).length - 1;
      return own[Math.min(nth, own.length - 1)]?.() ?? NEVER;
    },
  };
  const ports = { clock, rng: fixedRng(), telemetry, devicePlugins: port as DevicePlugins };
  const seen: string[] = [];
  const run = (endMs: number): void => {
    const changes$ = followDevices(
      ports,
      { devices, plugins, deviceAllocations, devicePluginProblem },
      { nodeName: "node", event: () => undefined },
    );
    m.at(0, () => {
      const running = changes$.subscribe({
        next: (state) => {
          const { capacity, allocatable, away } = deviceAmounts(state);
          const gpu = `${allocatable[GPU]}/${capacity[GPU]}${away.has(GPU) ? " away" : ""}`;
          seen.push(`${clock.monotonicMs()} ${gpu}`);
        },
      });
      m.at(endMs, () => running.unsubscribe());
    });
    m.flush();
  };
  return { seen, calls, run, telemetry, plugins, devices, devicePluginProblem };
}

describe("followDevices", () => {
  it(
    "has the devices of a plugin that registers, and each change of their health at once",
    marbles((m) => {
      const arrivals = "sg";
      const gpuLists = "-a-a-b-c";

      const { run, seen, devices } = world(m, arrivals, { "/gpu.sock": [() => m.cold(gpuLists, lists)] });
      run(100);
      expect(seen).toEqual(["1 0/0 away", "2 2/2", "6 1/2", "8 1/1"]);
      expect(devices.value.get(GPU)?.endpoint).toEqual({
        ...{ socket: "/gpu.sock", preStartRequired: true, prefersDevices: false },
      });
    }),
  );

  it(
    "has no healthy device once the plugin has stopped, does not call it again, and forgets its devices after five minutes",
    marbles((m) => {
      const arrivals = "  sg";
      const firstLists = "a---|";

      const { run, seen, calls } = world(m, arrivals, { "/gpu.sock": [() => m.cold(firstLists, lists)] });
      run(400_000);
      expect(seen).toEqual(["1 0/0 away", "1 2/2", "5 0/2 away", "300005 0/0"]);
      expect(calls).toEqual(["1 options of /gpu.sock", "1 /gpu.sock"]);
    }),
  );

  it(
    "asks a plugin that told its options at its registration for its lists alone",
    marbles((m) => {
      const arrivals = "so";
      const gpuLists = "a";

      const { run, calls, devices } = world(m, arrivals, { "/gpu.sock": [() => m.cold(gpuLists, lists)] });
      run(100);
      expect(calls).toEqual(["1 /gpu.sock"]);
      expect(devices.value.get(GPU)?.endpoint?.prefersDevices).toBe(true);
    }),
  );

  it(
    "calls a plugin inside the kubelet again, since it cannot register again",
    marbles((m) => {
      const arrivals = "  sb";
      const firstLists = "a---#";
      const laterLists = "b";

      const failing = () => m.cold(firstLists, lists, kubeletError("Unavailable", "gone"));
      const { run, seen } = world(m, arrivals, { "/gpu.sock": [failing, () => m.cold(laterLists, lists)] });
      run(100_000);
      expect(seen).toEqual(["1 0/0 away", "1 2/2", "5 0/2 away", "1005 1/2"]);
    }),
  );

  it(
    "has the devices again when the plugin comes back, or another one takes its place",
    marbles((m) => {
      const arrivals = "  sg 9ms g";
      const firstLists = "a---#";
      const laterLists = "b";

      const failing = () => m.cold(firstLists, lists, kubeletError("Unavailable", "gone"));
      const { run, seen } = world(m, arrivals, { "/gpu.sock": [failing, () => m.cold(laterLists, lists)] });
      run(100_000);
      expect(seen).toEqual(["1 0/0 away", "1 2/2", "5 0/2 away", "11 1/2"]);
    }),
  );

  it(
    "lets resources of an earlier process wait for their plugins, and forgets those whose plugins stay away",
    marbles((m) => {
      const { run, seen, devices } = world(m, "s", {}, [GPU, "example.com/other"]);
      run(400_000);
      expect(seen).toEqual(["0 0/0 away", "0 0/0 away", "300000 0/0", "300000 0/0"]);
      expect([...devices.value.keys()]).toEqual([GPU, "example.com/other"]);
    }),
  );

  it(
    "cuts off a plugin that sends nothing and one that lists without end, and calls them again with growing pauses",
    marbles((m) => {
      const flood = () => of(...Array.from({ length: 200 }, () => lists.a));
      const { run, calls, devices, telemetry } = world(m, "s(gh)", { "/gpu.sock": [flood] });
      run(40_000);
      expect(devices.value.get("example.com/h")?.presence.kind).toBe("away");
      const warnings = telemetry.lines.filter(({ level }) => level === "warn");
      const errors = warnings.map(({ fields }) => (fields["error"] as { readonly code?: string } | undefined)?.code);
      expect(new Set(errors)).toEqual(new Set(["ResourceExhausted", "DeadlineExceeded"]));
      const times = (socket: string) =>
        calls.filter((call) => call.endsWith(` ${socket}`)).map((call) => Number(call.split(" ")[0]));
      expect(times("/gpu.sock")).toEqual([1, 1, 1001, 3001, 7001, 15001, 31001]);
      expect(times("/hangs.sock")).toEqual([1, 1, 11001, 23001, 37001]);
    }),
  );

  it(
    "serves registrations again after its socket failed, and says so meanwhile",
    marbles((m) => {
      const arrivals = "s-g-#";
      const gpuLists = "a";

      const { run, seen, devicePluginProblem } = world(m, arrivals, {
        "/gpu.sock": [() => m.cold(gpuLists, lists)],
      });
      m.at(100, () => expect(devicePluginProblem.value).toBe("error"));
      m.at(201, () => expect(devicePluginProblem.value).toBe("error"));
      m.at(205, () => expect(devicePluginProblem.value).toBeUndefined());
      run(206);
      expect(seen).toEqual(["2 0/0 away", "2 2/2"]);
    }),
  );

  it(
    "follows plugins of the plugin directory until they leave it",
    marbles((m) => {
      const arrivals = "s";
      const gpuLists = "a";

      const { run, seen, plugins, telemetry } = world(m, arrivals, { "/p/gpu": [() => m.cold(gpuLists, lists)] });
      const socket = { path: "/p/gpu-reg", identity: "1" };
      m.at(5, () =>
        plugins.set(
          new Map([
            [socket.path, { type: "DevicePlugin", name: GPU, endpoint: "/p/gpu", versions: ["v1beta1"], socket }],
          ]),
        ),
      );
      m.at(20, () => plugins.set(new Map()));
      run(100);
      expect(seen).toEqual(["5 0/0 away", "5 2/2", "20 0/2 away"]);
      expect(telemetry.samples.get(`kubelet_device_plugin_registration_total{resource_name="${GPU}"}`)).toBe(1);
    }),
  );
});
