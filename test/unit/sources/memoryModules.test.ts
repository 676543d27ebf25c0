import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { readMemoryModules } from "../../../src/sources/memoryModules.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

describe("memory modules", () => {
  const root = temporaryDirectory();
  const files: Record<string, string> = {
    "mc0/dimm0/dimm_mem_type": "Unbuffered-DDR4\n",
    "mc0/dimm0/size": "16384\n",
    "mc0/dimm1/dimm_mem_type": "Non-volatile-RAM\n",
    "mc0/dimm1/size": "789\n",
    "mc1/dimm10/dimm_mem_type": "Unbuffered-DDR4\n",
    "mc1/dimm10/size": "1024\n",
    "mc1/dimm2/size": "1\n",
    "mc1/dimm3/dimm_mem_type": "Unbuffered-DDR4\n",
    "mc1/dimm3/size": "many\n",
    "mc1/dimm_none/dimm_mem_type": "Unbuffered-DDR4\n",
    "mc1/dimm_none/size": "1\n",
    "mc_none/dimm0/dimm_mem_type": "Unbuffered-DDR4\n",
    "mc_none/dimm0/size": "1\n",
  };
  const write = async (tree: Readonly<Record<string, string>>): Promise<void> => {
    for (const [path, content] of Object.entries(tree)) {
      const file = join(root(), "sys/devices/system/edac/mc", path);
      await fs.mkdir(dirname(file), { recursive: true });
      await fs.writeFile(file, content);
    }
  };
  beforeEach(() => write(files));

  it("are summed by type over all controllers; a module that cannot be read is left out", async () => {
    const mib = 1024 * 1024;
    expect(await readMemoryModules(root())).toEqual([
      { type: "Non-volatile-RAM", count: 1, bytes: 789 * mib },
      { type: "Unbuffered-DDR4", count: 2, bytes: 17_408 * mib },
    ]);
  });

  it("are none without controllers", async () => {
    expect(await readMemoryModules(join(root(), "missing"))).toEqual([]);
  });

  it("are counted up to 256 per controller", async () => {
    const many = Array.from({ length: 260 }, (_, index) => [
      [`mc9/dimm${index}/dimm_mem_type`, "Many"],
      [`mc9/dimm${index}/size`, "1"],
    ]).flat();
    await write(Object.fromEntries(many) as Record<string, string>);
    const modules = await readMemoryModules(root());
    expect(modules.find(({ type }) => type === "Many")?.count).toBe(256);
  });
});
