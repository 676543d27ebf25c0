/** Tears block volumes down, from their places on disk alone. Stateless. */
import type { Observable } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import { CSI_PLUGIN } from "../../core/csi/csiLayout.ts";
import { isDiskPlugin } from "../../core/disk/diskBlock.ts";
import { blockPlaces, type BlockVolumeId } from "../../core/volume/blockVolume.ts";
import { tearDownCsiBlock } from "./csiBlockTearDown.ts";
import type { CsiContext } from "./csiContext.ts";
import type { DeviceTurns } from "./deviceTurns.ts";
import { tearDownLocalDevice } from "./localDevices.ts";
import type { DiskContext } from "./diskAttachment.ts";
import { tearDownDiskDevice } from "./diskDevices.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";

export interface BlockTearDownDeps {
  readonly rootDir: string;
  readonly turns: DeviceTurns;
  /** undefined: the node has no CSI drivers. */
  readonly csi?: CsiContext | undefined;
  /** undefined: the node has no disks of the network. */
  readonly disks?: DiskContext | undefined;
}

/** Completes when nothing of the volume is left. Errors: KubeletError, without undoing completed steps. */
export function tearDownBlock(
  ports: RemovalPorts,
  { rootDir, turns, csi, disks }: BlockTearDownDeps,
  id: BlockVolumeId,
): Observable<never> {
  if (isDiskPlugin(id.plugin)) {
    if (disks === undefined) throw kubeletError("Unimplemented", "the node has no disks of the network");
    return tearDownDiskDevice(ports, disks, { rootDir }, id);
  }
  if (id.plugin !== CSI_PLUGIN) {
    const places = blockPlaces({ rootDir }, id);
    return turns.run(places.mapDir, tearDownLocalDevice(ports, places));
  }
  if (csi === undefined) throw kubeletError("Unimplemented", "the node has no CSI drivers");
  return tearDownCsiBlock(ports, csi, { ...id, directories: { rootDir } });
}
