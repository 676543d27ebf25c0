import * as fs from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readHugepages } from "../../../src/sources/hugepages.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const root = temporaryDirectory();

/** Writes the reserved pages by directory; undefined leaves the file out. */
async function write(pages: Readonly<Record<string, string | undefined>>): Promise<void> {
  for (const [name, count] of Object.entries(pages)) {
    await fs.mkdir(join(root(), name), { recursive: true });
    if (count !== undefined) await fs.writeFile(join(root(), name, "nr_hugepages"), count);
  }
}

it("sizes are in the largest unit that leaves a whole number, smallest first", async () => {
  await write({
    "hugepages-1048576kB": "2\n",
    "hugepages-64kB": "1\n",
    "hugepages-1024kB": "4\n",
    "hugepages-17179869184kB": "0\n",
    "hugepages-2048kB": "3\n",
  });
  expect(await readHugepages(root())).toEqual([
    { bytes: 65_536n, unit: "64KB", resource: "hugepages-64Ki", count: 1n },
    { bytes: 1_048_576n, unit: "1MB", resource: "hugepages-1Mi", count: 4n },
    { bytes: 2_097_152n, unit: "2MB", resource: "hugepages-2Mi", count: 3n },
    { bytes: 1_073_741_824n, unit: "1GB", resource: "hugepages-1Gi", count: 2n },
    { bytes: 17_592_186_044_416n, unit: "16TB", resource: "hugepages-16Ti", count: 0n },
  ]);
});

it("a size beyond the largest unit keeps it", async () => {
  await write({ [`hugepages-${1024 ** 4}kB`]: "0" });
  expect((await readHugepages(root())).map(({ unit }) => unit)).toEqual(["1024TB"]);
});

it("an unreadable or malformed count is none, and other names are no sizes", async () => {
  await write({
    "hugepages-64kB": undefined,
    "hugepages-2048kB": "many",
    "hugepages-xkB": "1",
    "x-hugepages-4kB": "1",
  });
  expect((await readHugepages(root())).map(({ unit, count }) => [unit, count])).toEqual([
    ["64KB", 0n],
    ["2MB", 0n],
  ]);
});

it("a machine without huge pages has no sizes", async () => {
  expect(await readHugepages(join(root(), "none"))).toEqual([]);
});
