/** The KernelTunables port on files. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ioError } from "../core/ioError.ts";
import { KERNEL_TUNABLES, type KernelTunable, type TunableReading } from "../core/node/hostRequirements.ts";
import { readWhole } from "../fileSystem/regularFile.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { KernelTunables } from "../ports/kernelTunables.ts";

/** Far longer than any number. */
const MAX_BYTES = 4096;

/** Creates the port; `dir` is `/proc/sys` or a directory with the same layout. */
export function createKernelTunables(dir: string): KernelTunables {
  const read = async (tunable: KernelTunable): Promise<TunableReading> => {
    const path = join(dir, tunable);
    try {
      return { tunable, value: (await readWhole(path, MAX_BYTES)).toString("utf8") };
    } catch (thrown) {
      return { tunable, value: ioError("read", path, thrown) };
    }
  };
  const set = (tunable: KernelTunable, value: number): Promise<void> => {
    const path = join(dir, tunable);
    return writeFile(path, String(value)).catch((thrown: unknown) => {
      throw ioError(`write ${value} to`, path, thrown);
    });
  };
  return {
    read: () => fromCall(() => Promise.all((Object.keys(KERNEL_TUNABLES) as KernelTunable[]).map(read))),
    set: (tunable, value) => fromCall(() => set(tunable, value)),
  };
}
