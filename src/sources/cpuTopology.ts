/** Counts the cores and sockets of this machine. Upstream: cadvisor's GetTopology. */
import * as fs from "node:fs/promises";

/** Distinct cores and sockets. */
export interface CpuTopology {
  readonly cores: number;
  readonly sockets: number;
}

const CPUS = "/sys/devices/system/cpu";

/** Returns undefined if the system does not expose its topology. */
export async function readCpuTopology(prefix: string): Promise<CpuTopology | undefined> {
  const names = await fs.readdir(prefix + CPUS).catch(() => []);
  const cpus = names.filter((name) => /^cpu\d+$/.test(name));
  const id = (cpu: string, file: string): Promise<string | undefined> =>
    fs.readFile(`${prefix}${CPUS}/${cpu}/topology/${file}`, "utf8").then(
      (text) => text.trim(),
      () => undefined,
    );
  const ids = await Promise.all(
    cpus.map(async (cpu) => ({ socket: await id(cpu, "physical_package_id"), core: await id(cpu, "core_id") })),
  );
  const known = ids.filter(({ socket, core }) => socket !== undefined && core !== undefined);
  if (known.length === 0) return undefined;
  return {
    cores: new Set(known.map(({ socket, core }) => `${socket}/${core}`)).size,
    sockets: new Set(known.map(({ socket }) => socket)).size,
  };
}
