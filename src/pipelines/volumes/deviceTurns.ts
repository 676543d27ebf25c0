/**
 * Turns of the devices of local volumes: each device has its own, so no volume waits for the file system check of another.
 * State: a turn and a count per device while operations hold or await it.
 */
import { defer, EMPTY, finalize } from "rxjs";
import { volumeKey, type VolumeLayout } from "../../core/volume/volumeLayout.ts";
import { createKeyedTurns } from "../../operators/keyedTurns.ts";
import type { Call } from "../../ports/call.ts";

/**
 * Serializes the operations on each device; all pods of a device have the same key. Upstream: the volumeLocks of
 * pkg/volume/local.
 */
export interface DeviceTurns {
  /** Runs an operation for a pod that has the device, or gets it. */
  run<T>(device: string, call: Call<T>): Call<T>;
  /**
   * Unmounts a device of which a pod has gone, or leaves it to a pod that gets it meanwhile: the tear down of that one comes
   * later, and its set up may take an hour.
   *
   *     run(d, a)      [----a]
   *     release(d, b)    |
   *     release(d, c)           [---c]
   *     release(d, e)               [-e]
   */
  release<T>(device: string, call: Call<T>): Call<T>;
}

/** Creates the turns of a node. */
export function createDeviceTurns(): DeviceTurns {
  const turns = createKeyedTurns();
  /** Numbers of operations for pods that run or wait, by device. */
  const uses = new Map<string, number>();
  const change = (device: string, by: number): void => {
    const count = (uses.get(device) ?? 0) + by;
    if (count === 0) uses.delete(device);
    else uses.set(device, count);
  };
  return {
    run: (device, call) =>
      defer(() => {
        change(device, 1);
        return turns.run(device, call).pipe(finalize(() => change(device, -1)));
      }),
    release: (device, call) => defer(() => (uses.has(device) ? EMPTY : turns.run(device, call))),
  };
}

/** Returns the key of the turns of a volume that `heldVolumes` does not have: the same for all of its pods. */
export const deviceOf = (layout: VolumeLayout): string =>
  layout.block?.mapDir ?? layout.bound?.device.mountPoint ?? volumeKey(layout);
