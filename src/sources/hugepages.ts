/** Reads the reserved huge pages of each size, of the machine or of one NUMA node. Bound: a directory of the kernel. */
import * as fs from "node:fs/promises";
import type { HugepageSize } from "../ports/host.ts";

const KIB = 1024n;
const UNITS = ["KB", "MB", "GB", "TB"];
const BINARY_UNITS = ["Ki", "Mi", "Gi", "Ti"];

/** Returns the sizes below a directory such as `/sys/kernel/mm/hugepages`, smallest first; none if it does not exist. */
export async function readHugepages(dir: string): Promise<readonly HugepageSize[]> {
  const names = await fs.readdir(dir).catch(() => []);
  const sizes = await Promise.all(
    names.map(async (name): Promise<readonly HugepageSize[]> => {
      const kib = /^hugepages-(\d+)kB$/.exec(name)?.[1];
      if (kib === undefined) return [];
      const count = (await fs.readFile(`${dir}/${name}/nr_hugepages`, "utf8").catch(() => "0")).trim();
      return [hugepageSize(BigInt(kib), /^\d+$/.test(count) ? BigInt(count) : 0n)];
    }),
  );
  return sizes.flat().sort((a, b) => (a.bytes < b.bytes ? -1 : 1));
}

/** A page size in the units cgroups and resources use: the largest that leaves a whole number. */
function hugepageSize(kib: bigint, count: bigint): HugepageSize {
  let size = kib;
  let unit = 0;
  while (size >= KIB && unit < UNITS.length - 1) {
    size /= KIB;
    unit += 1;
  }
  return { bytes: kib * KIB, unit: `${size}${UNITS[unit]}`, resource: `hugepages-${size}${BINARY_UNITS[unit]}`, count };
}
