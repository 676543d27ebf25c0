/**
 * Decides which unused images are removed, in which order and how much space they must free. Upstream:
 * pkg/kubelet/images/image_gc_manager.go. Differs from upstream: an image of a pod that is about to start counts as
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

/** The space that a collection shall free. `available` of `free`: the bytes that are then available. */
export type SpaceGoal =
  | { readonly kind: "invalid" }
  | { readonly kind: "enough" }
  | { readonly kind: "free"; readonly usagePercent: number; readonly bytes: bigint; readonly available: bigint };

/** Compares the usage of the image file system with the policy. */
export function spaceGoal({ capacityBytes, availableBytes }: ImageSpace, policy: ImageGcPolicy): SpaceGoal {
  if (capacityBytes === 0n) return { kind: "invalid" };
  const available = availableBytes > capacityBytes ? capacityBytes : availableBytes;
  const usagePercent = 100 - Number((available * 100n) / capacityBytes);
  if (usagePercent < policy.highPercent) return { kind: "enough" };
  const goal = (capacityBytes * BigInt(100 - policy.lowPercent)) / 100n;
  return { kind: "free", usagePercent, bytes: goal - available, available: goal };
}
