import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { readNumaMemory } from "../../../src/sources/numaMemory.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const root = temporaryDirectory();

/** Writes files below /sys/devices/system/node. */
async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const file = join(root(), "sys/devices/system/node", path);
    await fs.mkdir(dirname(file), { recursive: true });
    await fs.writeFile(file, `${text}\n`);
  }
}

it("finds memory and huge pages of each node", async () => {
  await write({
    online: "0,2",
    "node0/meminfo": "Node 0 MemTotal:       16316632 kB\nNode 0 MemFree:  1 kB",
    "node0/hugepages/hugepages-2048kB/nr_hugepages": "3",
    "node0/hugepages/hugepages-1048576kB/nr_hugepages": "0",
    "node2/meminfo": "Node 2 MemTotal:       1024 kB",
  });
  expect(await readNumaMemory(root())).toEqual([
    {
      id: 0,
      bytes: 16_316_632 * 1024,
      hugepages: new Map([
        ["hugepages-2Mi", 3 * 2 ** 21],
        ["hugepages-1Gi", 0],
      ]),
    },
    { id: 2, bytes: 2 ** 20, hugepages: new Map() },
  ]);
});

it.each<[string, Readonly<Record<string, string>>]>([
  ["the system has no NUMA nodes", {}],
  ["the list of nodes is malformed", { online: "zero" }],
  ["a node does not report its memory", { online: "0", "node0/meminfo": "Node 0 MemFree: 1 kB" }],
])("knows nothing if %s", async (_, files) => {
  await write(files);
  expect(await readNumaMemory(root())).toBeUndefined();
});
