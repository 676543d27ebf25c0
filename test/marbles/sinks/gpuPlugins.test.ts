/** The plugins of the GPU manager on the port of device plugins, beside those of vendors. */
import { EMPTY, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Gpu } from "../../../src/core/gpu/gpus.ts";
import type { DevicePlugins } from "../../../src/ports/devicePlugins.ts";
import { withGpuPlugins } from "../../../src/sinks/gpuPlugins.ts";
import { marbles } from "../../support/marbles.ts";

const SOCKET = "gpu-manager:nvidia.com/gpu";
const gpu = (id: string, isHealthy = true, resource = "nvidia.com/gpu"): Gpu => ({
  ...{ id, resource, numaNode: undefined, isHealthy },
  ...{ own: [`/dev/${id}`], shared: ["/dev/nvidiactl"] },
});
const looks: Readonly<Record<string, readonly Gpu[]>> = {
  n: [],
  a: [gpu("a")],
  b: [gpu("a", false)],
  c: [gpu("a", false), gpu("r", true, "amd.com/gpu")],
};
const listing = (health: string) => ({ devices: [{ ID: "a", health, topology: undefined }] });
const registered = (resource: string) => ({
  ...{ kind: "registered", resource, socket: `gpu-manager:${resource}`, isBuiltIn: true },
});

/** A port whose calls are noted. */
function vendors(calls: string[] = []): DevicePlugins {
  const noted = (name: string) => (socket: string) => {
    calls.push(`${name} ${socket}`);
    return EMPTY;
  };
  return {
    ...{ serve: () => of({ kind: "serving" }), options: noted("options"), listAndWatch: noted("list") },
    ...{ preferred: noted("preferred"), allocate: noted("allocate"), preStart: noted("preStart") },
  };
}

describe("withGpuPlugins", () => {
  it(
    "registers a vendor's resource once the machine has a GPU of it, and once only",
    marbles((m) => {
      const found = "   n-a-b-c-b-";
      const expected = "s-n---r---";
      const unsub = "   ---------!";

      const plugins = withGpuPlugins(vendors(), m.hot(found, looks), "");
      m.expectObservable(
        plugins.serve(() => undefined),
        unsub,
      ).toBe(expected, {
        ...{ s: { kind: "serving" }, n: registered("nvidia.com/gpu"), r: registered("amd.com/gpu") },
      });
    }),
  );

  it(
    "lists GPUs and each change of their health",
    marbles((m) => {
      const found = "   a-b-c-a-";
      const expected = "a-b---a-";
      const unsub = "   -------!";

      const plugins = withGpuPlugins(vendors(), m.hot(found, looks), "");
      m.expectObservable(plugins.listAndWatch(SOCKET), unsub).toBe(expected, {
        ...{ a: listing("Healthy"), b: listing("Unhealthy") },
      });
    }),
  );

  it(
    "prepares GPUs as they are now, and fails for those that do not work",
    marbles((m) => {
      const found = "a-b------";
      const unsub = "--------!";
      const given = "-(g|)";

      const plugins = withGpuPlugins(vendors(), m.hot(found, looks), "/host");
      m.expectObservable(plugins.listAndWatch(SOCKET), unsub).toBe(found, {
        ...{ a: listing("Healthy"), b: listing("Unhealthy") },
      });
      const node = (path: string) => ({ containerPath: path, hostPath: `/host${path}`, permissions: "rw" });
      m.at(1, () =>
        m.expectObservable(plugins.allocate(SOCKET, ["a"])).toBe(given, {
          g: {
            containerResponses: [
              {
                ...{ envs: {}, mounts: [], annotations: {}, cdiDevices: [] },
                devices: [node("/dev/a"), node("/dev/nvidiactl")],
              },
            ],
          },
        }),
      );
      const messages: string[] = [];
      m.at(3, () =>
        plugins.allocate(SOCKET, ["a"]).subscribe({ error: (thrown: Error) => messages.push(thrown.message) }),
      );
      m.flush();
      expect(messages).toEqual(["rpc error: code = Unknown desc = the GPU a does not work"]);
    }),
  );

  it("leaves the plugins of vendors to the other port", () => {
    const calls: string[] = [];
    const plugins = withGpuPlugins(vendors(calls), NEVER, "");
    plugins.options("/v.sock").subscribe();
    plugins.listAndWatch("/v.sock").subscribe();
    plugins.preferred("/v.sock", { available: [], mustInclude: [], size: 0 }).subscribe();
    plugins.allocate("/v.sock", []).subscribe();
    plugins.preStart("/v.sock", []).subscribe();
    expect(calls).toEqual(["options", "list", "preferred", "allocate", "preStart"].map((name) => `${name} /v.sock`));
  });
  it("needs neither PreStartContainer nor GetPreferredAllocation", () => {
    const options: unknown[] = [];
    withGpuPlugins(vendors([]), NEVER, "")
      .options(SOCKET)
      .subscribe((value) => options.push(value));
    expect(options).toEqual([{ preStartRequired: false, getPreferredAllocationAvailable: false }]);
  });
});
