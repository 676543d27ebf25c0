/** Counts the cores, sockets, books and drawers of this machine. Upstream: GetTopology, GetBooks and GetDrawers of cadvisor. */
import * as fs from "node:fs/promises";
import type { CpuTopology } from "../ports/host.ts";

const CPUS = "/sys/devices/system/cpu";

/** The only architecture whose kernel gives books and drawers a meaning. */
const MAINFRAME = "s390x";

/** Returns undefined if the system does not expose its topology. */
export async function readCpuTopology(
  prefix: string,
  architecture: string = process.arch,
): Promise<CpuTopology | undefined> {
  const names = await fs.readdir(prefix + CPUS).catch(() => []);
  const cpus = names.filter((name) => /^cpu\d+$/.test(name));
  const id = (cpu: string, file: string): Promise<string | undefined> =>
    fs.readFile(`${prefix}${CPUS}/${cpu}/topology/${file}`, "utf8").then(
      (text) => text.trim(),
      () => undefined,
    );
  const ids = await Promise.all(
    cpus.map(async (cpu) => ({
      socket: await id(cpu, "physical_package_id"),
      core: await id(cpu, "core_id"),
      book: await id(cpu, "book_id"),
      drawer: await id(cpu, "drawer_id"),
    })),
  );
  const known = ids.filter(({ socket, core }) => socket !== undefined && core !== undefined);
  if (known.length === 0) return undefined;
  const distinct = (ids: readonly (string | undefined)[]): number =>
    architecture === MAINFRAME ? new Set(ids.filter((one) => one !== undefined)).size : 0;
  return {
    books: distinct(known.map(({ book }) => book)),
    drawers: distinct(known.map(({ drawer }) => drawer)),
    cores: new Set(known.map(({ socket, core }) => `${socket}/${core}`)).size,
    sockets: new Set(known.map(({ socket }) => socket)).size,
  };
}
