/** The kernel tunables below `/proc/sys` that a kubelet expects. They apply to the whole machine. */
import type { KernelTunable, TunableReading } from "../core/node/hostRequirements.ts";
import type { Call } from "./call.ts";

/** Reads and sets tunables. */
export interface KernelTunables {
  /** Reads all tunables of the table. A file that cannot be read is a reading, not an error. */
  read(): Call<readonly TunableReading[]>;
  /** Errors: KubeletError naming the file. */
  set(tunable: KernelTunable, value: number): Call<void>;
}
