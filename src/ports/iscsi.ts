/** The iSCSI initiator of the node: its tool iscsiadm, and its sessions in sysfs. Upstream: pkg/volume/util/device_util_linux.go. */
import type { Observable } from "rxjs";
import type { AdminAnswer, AdminCall } from "../core/disk/iscsiAdmin.ts";
import type { Call } from "./call.ts";

/** A session of the node with a target. */
export interface IscsiSession {
  /** Number of its SCSI host. */
  readonly host: number;
  /** Current and persistent portals of its connections, with ports. */
  readonly portals: readonly string[];
  /** Empty when the kernel does not say. */
  readonly iface: string;
}

/** Errors of all operations: KubeletError. */
export interface IscsiInitiator {
  /**
   * Runs iscsiadm; any exit status is an answer, in which the secret of the call is masked. Deadline 3 min, after which it is
   * killed: DeadlineExceeded, and the effect is unknown. Errors: NotFound when it is not installed.
   */
  admin(call: AdminCall): Call<AdminAnswer>;
  /** Returns the sessions with this target; skips sessions that cannot be read. */
  sessions(iqn: string): Call<readonly IscsiSession[]>;
  /** Returns the devices of a LUN, such as `/dev/sdb`: one for each session; without `lun` those of the whole target. */
  devices(iqn: string, lun?: number): Call<readonly string[]>;
  /** Lets a SCSI host look for one LUN. Deadline 2 min. */
  scan(host: number, lun: number): Call<void>;
  /**
   * Emits when it watches, then whenever links to disks may have changed. Errors: Io when nothing can be watched.
   */
  readonly linkChanges$: Observable<unknown>;
}
