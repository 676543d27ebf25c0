import { describe, expect, it } from "vitest";
import { MAX_SOURCES, MAX_TEXT } from "../../../../src/core/live/liveMessages.ts";
import { liveNode, type NodeFigures } from "../../../../src/core/live/liveNode.ts";

const NOTHING: NodeFigures = {
  at: 1,
  problems: [],
  usage: {},
  pressure: undefined,
  hardware: { devices: [] } as unknown as NodeFigures["hardware"],
  calls: [],
  sources: [],
};
const GIB = 1 << 30;

describe("the node in the live view", () => {
  it("has no figures that nobody measured", () => {
    expect(liveNode(NOTHING)).toEqual({
      ...{ kind: "node", at: 1, problems: [], usage: {}, pressures: [], signals: [], evictionOrder: [] },
      ...{ devices: [], calls: [] },
    });
  });

  it("shows of each signal the threshold that is met, else the closest one", () => {
    const signal = (name: string, thresholds: readonly object[], available?: number) => ({
      signal: name,
      unit: name === "pid.available" ? "pids" : "bytes",
      ...(available === undefined ? {} : { measured: { available, capacity: 9, secondsAgo: 1 } }),
      thresholds,
    });
    const pressure = {
      conditions: ["MemoryPressure"],
      signals: [
        signal(
          "memory.available",
          [
            { amount: GIB, distance: 5 },
            { amount: 512, distance: -1, metSeconds: 3 },
          ],
          300,
        ),
        signal(
          "nodefs.available",
          [
            { amount: 100 * GIB, distance: 9 },
            { amount: 1.5 * GIB, distance: 2 },
          ],
          2.5 * GIB,
        ),
        signal("pid.available", [{ amount: 100 }], 200),
        signal("imagefs.available", []),
      ],
      eviction: { pods: [{ namespace: "demo", name: "web", reason: "" }] },
    } as unknown as NodeFigures["pressure"];
    const { pressures, signals, evictionOrder } = liveNode({ ...NOTHING, pressure });
    expect({ pressures, signals, evictionOrder }).toEqual({
      pressures: ["MemoryPressure"],
      signals: [
        { name: "memory.available", available: "300 B", threshold: "512 B", isMet: true },
        { name: "nodefs.available", available: "2.5 GiB", threshold: "1.5 GiB", isMet: false },
        { name: "pid.available", available: "200", threshold: "100", isMet: false },
        { name: "imagefs.available", available: "not measured", threshold: "", isMet: false },
      ],
      evictionOrder: ["demo/web"],
    });
  });

  it("counts the devices that containers have", () => {
    const hardware = {
      devices: [{ resource: "example.com/gpu", total: 8, free: 3, unhealthyCount: 1 }],
    } as unknown as NodeFigures["hardware"];
    expect(liveNode({ ...NOTHING, hardware }).devices).toEqual([{ resource: "example.com/gpu", total: 8, used: 4 }]);
  });

  it("has the images and containers that no pod needs, in numbers alone", () => {
    const pressure = {
      ...{ conditions: [], signals: [], eviction: { pods: [] } },
      reclaim: {
        deadContainers: 4,
        images: {
          unused: { count: 2, bytes: 3 * GIB, first: [{ name: "registry.local/old:1", bytes: GIB }] },
          kept: { count: 1, bytes: 5, first: [{ name: "registry.local/web:1", bytes: 5, reason: "used by a/b" }] },
        },
      },
    } as unknown as NodeFigures["pressure"];
    expect(liveNode({ ...NOTHING, pressure }).garbage).toEqual({
      ...{ unusedImages: 2, unusedBytes: 3 * GIB, keptImages: 1, keptBytes: 5, deadContainers: 4 },
    });
  });

  it("has its sources: those that are down first, then those that were reopened most, with a bound", () => {
    const source = (name: string, isUp: boolean, restarts: number) => ({ name, isUp, restarts });
    const sources = [source("b", true, 0), source("file", true, 2), source("a", true, 0), source("api", false, 1)];
    expect(liveNode({ ...NOTHING, sources }).sources?.map(({ name }) => name)).toEqual(["api", "file", "a", "b"]);
    const many = Array.from({ length: MAX_SOURCES + 1 }, (_, at) => source("x".repeat(MAX_TEXT + at), true, at));
    const shown = liveNode({ ...NOTHING, sources: many }).sources ?? [];
    expect([shown.length, shown.at(-1)?.restarts, shown[0]?.name.length]).toEqual([MAX_SOURCES, 1, MAX_TEXT]);
  });
});
