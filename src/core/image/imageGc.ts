/**
 * Rules of image garbage collection: order of removal, age limits, space to free; pipelines/images/imageRemovals.ts applies
 * them. Upstream: pkg/kubelet/images/image_gc_manager.go. Differs from upstream: an image of a pod that is about to start counts as
 * used, so it is not removed between its pull and its container.
 */
import type { Pod } from "../api.ts";
import { allContainers } from "../pod/containers.ts";
import type { ImageRecord, ImageRecords } from "./imageRecords.ts";
import { parseImageRef } from "./imageRef.ts";

/** Limits of image garbage collection. */
export interface ImageGcPolicy {
  /** Usage of the image file system in percent that starts a collection; 100: only the age counts. */
  readonly highPercent: number;
  /** Usage in percent at which a collection stops. */
  readonly lowPercent: number;
  /** Age below which an unused image stays. */
  readonly minAgeMs: number;
  /** Time without use after which an image is removed in any case; 0: never. */
  readonly maxAgeMs: number;
}

/** Returns whether neither the disk nor the age ever starts a collection; the eviction manager still does. */
export const isNeverDue = ({ highPercent, maxAgeMs }: ImageGcPolicy): boolean => highPercent === 100 && maxAgeMs === 0;

/** An image of the runtime. */
export interface GcImage {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  /** Bytes on disk. */
  readonly size: bigint;
  /** Whether the runtime itself needs the image, as for sandboxes. */
  readonly pinned: boolean;
}

/** Returns the names that the runtime may have for an image reference, and the reference itself. */
export function imageNames(reference: string): readonly string[] {
  const parsed = parseImageRef(reference);
  if (!parsed.ok) return [reference];
  const { repository, tag, digest } = parsed.value;
  return [
    reference,
    ...(tag === undefined ? [] : [`${repository}:${tag}`]),
    ...(digest === undefined ? [] : [`${repository}@${digest}`, digest]),
  ];
}

/** Returns the references to all images of a pod: of its containers and of its image volumes. */
export const imagesOfPod = ({ spec }: Pod): readonly string[] => [
  ...allContainers(spec).flatMap(({ image = "" }) => (image === "" ? [] : [image])),
  ...(spec.volumes ?? []).flatMap(({ image }) => (image?.reference === undefined ? [] : [image.reference])),
];

/** Returns whether one of the names means the image. */
export const isNamed = ({ id, repoTags, repoDigests }: GcImage, names: ReadonlySet<string>): boolean =>
  names.has(id) || repoTags.some((tag) => names.has(tag)) || repoDigests.some((digest) => names.has(digest));

/** Returns the images that may be removed, the least recently used first, then the one that was detected first. */
export function inRemovalOrder(
  images: readonly GcImage[],
  records: ImageRecords,
  used: ReadonlySet<string>,
): readonly GcImage[] {
  const usedAt = ({ id }: GcImage): number => records.get(id)?.usedAt ?? 0;
  const detectedAt = ({ id }: GcImage): number => records.get(id)?.detectedAt ?? 0;
  return images
    .filter((image) => !image.pinned && !isNamed(image, used))
    .sort((a, b) => usedAt(a) - usedAt(b) || detectedAt(a) - detectedAt(b));
}

/** Returns whether an image was without use for longer than the maximum age. */
export const isTooOld = (record: ImageRecord, now: number, { maxAgeMs }: ImageGcPolicy): boolean =>
  maxAgeMs > 0 && now - (record.usedAt ?? record.detectedAt) > maxAgeMs;

/** Returns whether an image appeared so recently that a pod may have pulled it and not used it yet. */
export const isTooYoung = (record: ImageRecord, now: number, { minAgeMs }: ImageGcPolicy): boolean =>
  !record.wasThere && now - record.detectedAt < minAgeMs;

/** The space of a file system in bytes. */
export interface ImageSpace {
  readonly capacityBytes: bigint;
  readonly availableBytes: bigint;
}

/** A file system that is too full. */
export interface SpaceToFree {
  readonly kind: "free";
  readonly usagePercent: number;
  readonly capacityBytes: bigint;
  readonly bytes: bigint;
  /** The bytes that are available afterwards. */
  readonly available: bigint;
}

/** The space that a collection shall free. */
export type SpaceGoal = { readonly kind: "invalid" } | { readonly kind: "enough" } | SpaceToFree;

/** Compares the usage of the image file system with the policy. */
export function spaceGoal({ capacityBytes, availableBytes }: ImageSpace, policy: ImageGcPolicy): SpaceGoal {
  if (capacityBytes === 0n) return { kind: "invalid" };
  const available = availableBytes > capacityBytes ? capacityBytes : availableBytes;
  const usagePercent = 100 - Number((available * 100n) / capacityBytes);
  if (usagePercent < policy.highPercent) return { kind: "enough" };
  const goal = (capacityBytes * BigInt(100 - policy.lowPercent)) / 100n;
  return { kind: "free", usagePercent, capacityBytes, bytes: goal - available, available: goal };
}

/** Returns upstream's message for a collection that has freed too little. */
export const tooLittleFreed = ({ usagePercent, capacityBytes }: SpaceToFree, freedBytes: bigint): string =>
  `Insufficient free disk space on the node's image filesystem (${usagePercent}% of ${formatSize(capacityBytes)} used). ` +
  `Failed to free sufficient space by deleting unused images (freed ${freedBytes} bytes). ` +
  "Investigate disk usage, as it could be used by active images, logs, volumes, or other data.";

const UNITS = ["KiB", "MiB", "GiB", "TiB"] as const;

/** Formats bytes as upstream: in the largest unit that is not above them, up to TiB, with one decimal. */
function formatSize(bytes: bigint): string {
  let size = Number(bytes);
  let unit = "B";
  for (const larger of UNITS) {
    if (size < 1024) break;
    size /= 1024;
    unit = larger;
  }
  return unit === "B" ? `${size} B` : `${size.toFixed(1)} ${unit}`;
}
