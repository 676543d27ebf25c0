/**
 * Counts the memory modules (DIMMs) of this machine by type, as its memory controllers report them. Upstream: cadvisor's
 * GetMachineMemoryByType.
 */
import * as fs from "node:fs/promises";
import type { MemoryModules } from "../ports/host.ts";

const CONTROLLERS = "/sys/devices/system/edac/mc";
/** Maximum number of controllers, and of modules of each; far more than any machine has. */
const MAX_ENTRIES = 256;
const BYTES_PER_MIB = 1024 * 1024;

/** Sorted by type; empty without controllers. A module that cannot be read is left out. */
export async function readMemoryModules(prefix: string): Promise<readonly MemoryModules[]> {
  const found = new Map<string, MemoryModules>();
  for (const controller of await entries(prefix + CONTROLLERS, /^mc\d+$/)) {
    for (const dimm of await entries(controller, /^dimm\d+$/)) {
      const [type, mib] = await Promise.all([text(`${dimm}/dimm_mem_type`), text(`${dimm}/size`)]);
      if (type === "" || !/^\d+$/.test(mib)) continue;
      const { count, bytes } = found.get(type) ?? { count: 0, bytes: 0 };
      found.set(type, { type, count: count + 1, bytes: bytes + Number(mib) * BYTES_PER_MIB });
    }
  }
  return [...found.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
}

async function entries(dir: string, pattern: RegExp): Promise<readonly string[]> {
  const names = await fs.readdir(dir).catch(() => []);
  const matching = names.filter((name) => pattern.test(name));
  return matching.slice(0, MAX_ENTRIES).map((name) => `${dir}/${name}`);
}

const text = (path: string): Promise<string> =>
  fs.readFile(path, "utf8").then(
    (content) => content.trim(),
    () => "",
  );
