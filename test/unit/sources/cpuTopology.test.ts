import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import type { CpuTopology } from "../../../src/ports/host.ts";
import { readCpuTopology } from "../../../src/sources/cpuTopology.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const root = temporaryDirectory();

/** The files of a CPU; `undefined` leaves a file out. */
const cpu = (name: string, socket: string | undefined, core: string | undefined) =>
  [
    [`${name}/topology/physical_package_id`, socket],
    [`${name}/topology/core_id`, core],
  ] as const;

it.each<[string, readonly (readonly [string, string | undefined])[], Partial<CpuTopology> | undefined]>([
  ["nothing", [], undefined],
  ["two threads of one core", [...cpu("cpu0", "0\n", "0\n"), ...cpu("cpu1", "0\n", "0\n")], { cores: 1, sockets: 1 }],
  [
    "cores of the same number in two sockets",
    [...cpu("cpu0", "0", "0"), ...cpu("cpu10", "1", "0")],
    { cores: 2, sockets: 2 },
  ],
  ["a CPU without a core", [...cpu("cpu0", "0", "0"), ...cpu("cpu1", "1", undefined)], { cores: 1, sockets: 1 }],
  ["a CPU without a socket", [...cpu("cpu0", "0", "0"), ...cpu("cpu1", undefined, "1")], { cores: 1, sockets: 1 }],
  ["only CPUs without a topology", [...cpu("cpu0", undefined, "0"), ...cpu("cpu1", "0", undefined)], undefined],
  [
    "other directories",
    [...cpu("cpu0", "0", "0"), ...cpu("cpufreq", "1", "1"), ...cpu("xcpu1", "2", "2")],
    { cores: 1, sockets: 1 },
  ],
])("counts the cores and sockets of %s", async (_, files, expected) => {
  for (const [path, text] of files) {
    const file = join(root(), "sys/devices/system/cpu", path);
    await fs.mkdir(dirname(file), { recursive: true });
    if (text !== undefined) await fs.writeFile(file, text);
  }
  const none = { books: 0, drawers: 0 };
  expect(await readCpuTopology(root(), "x64")).toEqual(expected && { ...expected, ...none });
});

it.each([
  ["s390x", { books: 2, drawers: 1 }],
  ["x64", { books: 0, drawers: 0 }],
])("counts books and drawers on mainframes only: %s", async (architecture, expected) => {
  for (const [name, book] of [
    ["cpu0", "0"],
    ["cpu1", "1"],
  ]) {
    const files = [
      ["physical_package_id", "0"],
      ["core_id", "0"],
      ["book_id", book],
      ["drawer_id", "0"],
    ];
    await fs.mkdir(join(root(), `sys/devices/system/cpu/${name}/topology`), { recursive: true });
    for (const [file = "", text = ""] of files) {
      await fs.writeFile(join(root(), `sys/devices/system/cpu/${name}/topology/${file}`), `${text}\n`);
    }
  }
  expect(await readCpuTopology(root(), architecture)).toMatchObject(expected);
});
