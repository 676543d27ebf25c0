/**
 * Statistics of a volume as its CSI driver gives them. Its answers are untrusted: counts are bounded, and no figure is
 * negative. Upstream: NodeGetVolumeStats of csi_client.go, and csi_metrics.go.
 */
import {
  type NodeGetVolumeStatsRequest,
  type NodeGetVolumeStatsResponse,
  VolumeUsage_Unit as Unit,
} from "../../gen/csi.ts";
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import type { SpaceFigures } from "../stats/nodeStats.ts";
import type { DiskFigures, VolumeCondition } from "../stats/podStorage.ts";
import { type CsiLayout, statsPath } from "./csiVolumeLayout.ts";

/** Usage and size of a volume in bytes and inodes; 0 where the driver gives no figure, as upstream. */
export interface CsiVolumeFigures {
  readonly used: DiskFigures;
  readonly space: SpaceFigures;
  /** Present for drivers that report it, with the gate CSIVolumeHealth. */
  readonly condition?: VolumeCondition;
}

/** Length of a message in an event; longer ones are cut. Differs from upstream, which passes on megabytes. */
export const MAX_CONDITION_CHARS = 1_024;

/** An answer has an entry for bytes and one for inodes. */
const MAX_USAGES = 16;

/** Returns the request for the statistics of a published volume; as upstream, it names no staging path. */
export const volumeStatsRequest = (csi: Pick<CsiLayout, "handle" | "block" | "target">): NodeGetVolumeStatsRequest => ({
  volumeId: csi.handle,
  volumePath: statsPath(csi),
  stagingTargetPath: "",
});

/**
 * Returns the figures of an answer. The last of several entries for a unit counts, and other units are ignored, as
 * upstream. `reportsCondition`: the driver reports conditions; an answer without one is a healthy volume, as upstream.
 * Errors: InvalidArgument. Differs from upstream: it reports a negative figure as one of nearly 2^64.
 */
export function csiVolumeFigures(
  { usage, volumeCondition }: Pick<NodeGetVolumeStatsResponse, "usage" | "volumeCondition">,
  reportsCondition = false,
): Result<CsiVolumeFigures> {
  if (usage.length === 0) return lie("failed to get usage from response. usage is nil");
  if (usage.length > MAX_USAGES) return lie(`the driver gives more than ${MAX_USAGES} usages of a volume`);
  const last = (unit: number): Figures => usage.findLast((each) => each.unit === unit) ?? NOTHING;
  const [bytes, inodes] = [last(Unit.BYTES), last(Unit.INODES)];
  const negative = [bytes, inodes]
    .flatMap(({ total, used, available }) => [total, used, available])
    .find((figure) => figure < 0n);
  if (negative !== undefined) return lie(`the driver gives ${negative} as usage of a volume`);
  return ok({
    used: { bytes: bytes.used, inodes: inodes.used },
    space: {
      capacityBytes: bytes.total,
      availableBytes: bytes.available,
      usedBytes: bytes.used,
      inodes: inodes.total,
      inodesFree: inodes.available,
    },
    ...(reportsCondition && { condition: conditionOf(volumeCondition) }),
  });
}

/** A surrogate without its other half is replaced, since no JSON text has it. */
const conditionOf = (reported: NodeGetVolumeStatsResponse["volumeCondition"]): VolumeCondition => ({
  abnormal: reported?.abnormal ?? false,
  message: (reported?.message ?? "").slice(0, MAX_CONDITION_CHARS).toWellFormed(),
});

interface Figures {
  readonly total: bigint;
  readonly used: bigint;
  readonly available: bigint;
}

const NOTHING: Figures = { total: 0n, used: 0n, available: 0n };

const lie = (message: string): Result<never> => err(kubeletError("InvalidArgument", message));
