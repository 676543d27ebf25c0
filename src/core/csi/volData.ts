/** The file `vol_data.json` beside a CSI volume, from which a later kubelet, also upstream's, tears the volume down. */
import { goJson } from "../container/goJson.ts";
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import { attachmentId } from "./csiLayout.ts";
import type { CsiLayout } from "./csiVolumeLayout.ts";

export const VOL_DATA = "vol_data.json";

/** Facts that a tear down needs. */
export interface VolData {
  readonly driver: string;
  readonly handle: string;
  /** Whether it may be staged: upstream's files without a mode are of persistent volumes. */
  readonly isPersistent: boolean;
  /** SELinux label with which it is mounted, or may be; undefined: with none. */
  readonly label: string | undefined;
}

/** Returns the content of the file in the pod's directory. */
export function podVolData({ driver, handle, mode, label }: CsiLayout, name: string, nodeName: string): string {
  return text({
    attachmentID: attachmentId(driver, handle, nodeName),
    driverName: driver,
    nodeName,
    ...labelOf(label),
    specVolID: name,
    volumeHandle: handle,
    volumeLifecycleMode: mode,
  });
}

/** Returns the content of the file of a block volume, which all pods of the node share. */
export const blockVolData = ({ driver, handle }: CsiLayout, name: string, nodeName: string): string =>
  text({
    attachmentID: attachmentId(driver, handle, nodeName),
    driverName: driver,
    nodeName,
    specVolID: name,
    volumeHandle: handle,
  });

/** Returns the content of the file in the directory of the staged volume. */
export const stageVolData = ({ driver, handle, label }: CsiLayout): string =>
  text({ driverName: driver, ...labelOf(label), volumeHandle: handle });

const labelOf = (label: string | undefined) => (label ? { seLinuxMountContext: label } : {});

/** Encodes like Go's encoder. */
const text = (data: Readonly<Record<string, string>>): string => `${goJson(data)}\n`;

/** Reads the file; its content may be cut off by a crash. */
export function parseVolData(content: string, path: string): Result<VolData> {
  const { driverName, volumeHandle, volumeLifecycleMode, seLinuxMountContext } = recordOf(content);
  const label = typeof seLinuxMountContext === "string" && seLinuxMountContext !== "" ? seLinuxMountContext : undefined;
  if (typeof driverName === "string" && driverName !== "" && typeof volumeHandle === "string" && volumeHandle !== "") {
    return ok({ driver: driverName, handle: volumeHandle, isPersistent: volumeLifecycleMode !== "Ephemeral", label });
  }
  return err(
    kubeletError(
      "InvalidArgument",
      `kubernetes.io/csi: failed to parse volume data file [${path}]: no driver and volume in it`,
    ),
  );
}

function recordOf(content: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(content);
    return typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
