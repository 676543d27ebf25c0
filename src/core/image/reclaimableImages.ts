/**
 * Images that the node would remove when a disk is short, and why it keeps the others. Bounds: MAX_IMAGES images of
 * each kind, MAX_NAME characters per name; the counts are those of all images.
 */
import type { Pod } from "../api.ts";
import type { EpochMs } from "../ids.ts";
import { durationText } from "../telemetry/plainText.ts";
import {
  type GcImage,
  imageNames,
  type ImageGcPolicy,
  imagesOfPod,
  inRemovalOrder,
  isNamed,
  isTooYoung,
} from "./imageGc.ts";
import type { ImageRecords } from "./imageRecords.ts";

export const MAX_IMAGES = 10;
const MAX_NAME = 512;

/** The images of the runtime as image garbage collection last listed them. */
export interface ImageUse {
  readonly images: readonly GcImage[];
  readonly records: ImageRecords;
  /** Names of images that containers and pods used. */
  readonly used: ReadonlySet<string>;
}

export interface ImageLine {
  readonly name: string;
  readonly bytes: number;
}

export interface KeptImage extends ImageLine {
  readonly reason: string;
}

export interface ReclaimableImages {
  /** Ordered by removal. Images share layers, so that their removal may free less than `bytes`. */
  readonly unused: { readonly count: number; readonly bytes: number; readonly first: readonly ImageLine[] };
  /** The largest first. */
  readonly kept: { readonly count: number; readonly bytes: number; readonly first: readonly KeptImage[] };
}

/** Returns both kinds of images. `pods` are those that run or may start. */
export function reclaimableImages(
  { images, records, used }: ImageUse,
  pods: readonly Pod[],
  policy: ImageGcPolicy,
  now: EpochMs,
): ReclaimableImages {
  const podNames = podsByImage(pods);
  const inUse = new Set([...used, ...podNames.keys()]);
  const isYoung = ({ id }: GcImage): boolean => {
    const record = records.get(id);
    return record !== undefined && isTooYoung(record, now, policy);
  };
  const unused = inRemovalOrder(images, records, inUse).filter((image) => !isYoung(image));
  const removable = new Set(unused);
  const kept = images.filter((image) => !removable.has(image)).sort((a, b) => Number(b.size - a.size));
  const reasonOf = (image: GcImage): string => {
    if (image.pinned) return "pinned by the runtime";
    const pod = podThatUses(image, podNames);
    if (pod !== undefined) return pod.more === 0 ? `used by ${pod.first}` : `used by ${pod.first} and ${pod.more} more`;
    if (isNamed(image, inUse)) return "used by a container";
    const ageSeconds = (now - (records.get(image.id)?.detectedAt ?? now)) / 1_000;
    return `too young: ${durationText(ageSeconds)} of ${durationText(policy.minAgeMs / 1_000)}`;
  };
  return {
    unused: { ...totalOf(unused), first: unused.slice(0, MAX_IMAGES).map(lineOf) },
    kept: {
      ...totalOf(kept),
      first: kept.slice(0, MAX_IMAGES).map((image) => ({ ...lineOf(image), reason: reasonOf(image) })),
    },
  };
}

/** The first of the pods that use an image, and the number of the others. */
interface Users {
  readonly first: string;
  readonly more: number;
}

function podsByImage(pods: readonly Pod[]): ReadonlyMap<string, Users> {
  const users = new Map<string, Users>();
  for (const pod of pods) {
    const { namespace, name } = pod.metadata;
    for (const image of new Set(imagesOfPod(pod).flatMap(imageNames))) {
      const found = users.get(image);
      users.set(
        image,
        found === undefined ? { first: `${namespace}/${name}`, more: 0 } : { ...found, more: found.more + 1 },
      );
    }
  }
  return users;
}

function podThatUses({ id, repoTags, repoDigests }: GcImage, users: ReadonlyMap<string, Users>): Users | undefined {
  for (const name of [id, ...repoTags, ...repoDigests]) {
    const found = users.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

const totalOf = (images: readonly GcImage[]) => ({
  count: images.length,
  bytes: images.reduce((sum, { size }) => sum + Number(size), 0),
});

const lineOf = ({ id, repoTags: [tag], repoDigests: [digest], size }: GcImage): ImageLine => ({
  name: (tag ?? digest ?? id).slice(0, MAX_NAME),
  bytes: Number(size),
});
