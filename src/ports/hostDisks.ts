/**
 * Disks of the network, as the SCSI subsystem of the node has them. Upstream: pkg/volume/util/device_util_linux.go and the
 * ioHandler of pkg/volume/fc.
 */
import type { Call } from "./call.ts";

/** Default deadline of all operations: 2 min. Errors: NotFound with the name of a tool that is not installed; else Io. */
export interface HostDisks {
  /** Returns the names of the links to disks, sorted; empty without such links. */
  links(directory: "by-path" | "by-id"): Call<readonly string[]>;
  /** Returns the device behind a link or a path, such as `/dev/sdb`; undefined when it does not exist. */
  deviceOf(path: string): Call<string | undefined>;
  /** Returns the multipath device that has this device, such as `/dev/dm-0`. */
  multipathOf(device: string): Call<string | undefined>;
  /** Returns the devices of a multipath device. */
  membersOf(multipath: string): Call<readonly string[]>;
  /** Lets all SCSI hosts look for disks. */
  rescan(): Call<void>;
  /** Writes the buffers of a device. */
  flush(device: string): Call<void>;
  /** Removes an unused multipath device. */
  removeMultipath(device: string): Call<void>;
  /** Removes a device from the node; the disk stays. */
  remove(device: string): Call<void>;
}
