/** Drivers of flexVolumes: programs in a directory of the node. Upstream: pkg/volume/flexvolume. */
import type { Observable } from "rxjs";
import type { FlexOutput } from "../core/flex/flexAnswer.ts";
import type { FlexExecutable } from "../core/flex/flexDriverFiles.ts";
import type { Call, CallOptions } from "./call.ts";

export interface FlexDrivers {
  /** Emits when a driver may have come, changed or gone. Errors when the watch breaks. */
  readonly changes$: Observable<unknown>;
  /** Returns the drivers, sorted; creates their directory. Errors: ResourceExhausted for too many. */
  list(): Call<readonly FlexExecutable[]>;
  /**
   * Runs a driver. Default deadline 2 min, after which the driver and its children are killed: the error is
   * DeadlineExceeded, and the effect is unknown. Errors: NotFound for a driver that is not installed, Io for one that cannot
   * be run or prints more than 64 KiB.
   */
  run(driver: string, args: readonly string[], options?: CallOptions): Call<FlexOutput>;
}
