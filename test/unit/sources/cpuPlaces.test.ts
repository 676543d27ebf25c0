import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { readCpuPlaces } from "../../../src/sources/cpuPlaces.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const root = temporaryDirectory();

/** Writes files below /sys/devices/system. */
async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const file = join(root(), "sys/devices/system", path);
    await fs.mkdir(dirname(file), { recursive: true });
    await fs.writeFile(file, `${text}\n`);
  }
}

const cpu = (id: number, socket: number, siblings: string): Readonly<Record<string, string>> => ({
  [`cpu/cpu${id}/topology/physical_package_id`]: String(socket),
  [`cpu/cpu${id}/topology/thread_siblings_list`]: siblings,
});
const cache = (id: number, index: number, level: number, shared: string): Readonly<Record<string, string>> => ({
  [`cpu/cpu${id}/cache/index${index}/level`]: String(level),
  [`cpu/cpu${id}/cache/index${index}/shared_cpu_list`]: shared,
});

it("finds core, socket, node and last-level cache of each online CPU", async () => {
  await write({
    "cpu/online": "0-2",
    "cpu/present": "0-5",
    ...cpu(0, 0, "0,2"),
    ...cpu(1, 1, "1"),
    ...cpu(2, 0, "0,2"),
    ...cache(0, 0, 1, "0"),
    ...cache(0, 1, 3, "0,2"),
    ...cache(2, 0, 3, "0,2"),
    "node/online": "0,2",
    "node/node0/cpulist": "0,2",
    "node/node0/distance": "10 21",
    "node/node2/cpulist": "1,3",
    "node/node2/distance": "21 10",
  });
  expect(await readCpuPlaces(root())).toEqual({
    places: [
      { cpu: 0, core: 0, socket: 0, node: 0, cache: 0 },
      { cpu: 1, core: 1, socket: 1, node: 2, cache: -2 },
      { cpu: 2, core: 0, socket: 0, node: 0, cache: 0 },
    ],
    offline: [3, 4, 5],
    nodeIds: [0, 2],
    distances: [
      [10, 21],
      [21, 10],
    ],
  });
});

it("takes a machine without NUMA nodes for one node", async () => {
  await write({ "cpu/online": "0", ...cpu(0, 0, "0") });
  expect(await readCpuPlaces(root())).toEqual({
    places: [{ cpu: 0, core: 0, socket: 0, node: 0, cache: -1 }],
    nodeIds: [0],
    distances: undefined,
  });
});

it.each<[string, Readonly<Record<string, string>>]>([
  ["the list of CPUs is damaged", { "cpu/online": "0-x", ...cpu(0, 0, "0") }],
  ["a CPU has no core", { "cpu/online": "0-1", ...cpu(0, 0, "0"), "cpu/cpu1/topology/physical_package_id": "0" }],
  ["a CPU has no socket", { "cpu/online": "0", "cpu/cpu0/topology/thread_siblings_list": "0" }],
  ["there is nothing", {}],
])("knows nothing if %s", async (_, files) => {
  await write(files);
  expect(await readCpuPlaces(root())).toBeUndefined();
});

it.each(["10", "10 x", "10 20 30"])("knows no distances if one is damaged: %j", async (distance) => {
  await write({
    "cpu/online": "0",
    ...cpu(0, 0, "0"),
    "node/online": "0-1",
    "node/node0/cpulist": "0",
    "node/node0/distance": "10 20",
    "node/node1/distance": distance,
  });
  expect((await readCpuPlaces(root()))?.distances).toBeUndefined();
});
