/** The image rpcs of a simulated runtime. State: the world's images, by id. */
import { type KubeletError, kubeletError } from "../../core/errors.ts";
import { parseImageRef } from "../../core/image/imageRef.ts";
import type * as cri from "../../gen/cri.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { Call } from "../../ports/call.ts";
import { createPrng } from "../prng.ts";
import { after, atOnce } from "./simCall.ts";
import { imageMessage } from "./simMessages.ts";
import type { SimImage } from "./simRecords.ts";
import { imagesFill, type SimWorld } from "./simWorld.ts";

/** The course of one pull. */
export type SimPull =
  | { readonly ms: number; readonly image: SimImage }
  | { readonly ms: number; readonly error: KubeletError };

/** The registries: return the result of pulling a reference. */
export type SimRegistry = (reference: string) => SimPull;

/** Returns the image of a reference; its id and digest derive from the name. */
export function simImage(reference: string, sizeBytes = 4_000_000): SimImage {
  const parsed = parseImageRef(reference);
  if (!parsed.ok) throw parsed.error;
  const { canonical, repository, tag } = parsed.value;
  const hex = (what: string) => {
    const prng = createPrng(`${what} ${canonical}`);
    return `sha256:${prng.uuid()}${prng.uuid()}`.replaceAll("-", "");
  };
  return {
    id: hex("image"),
    repoTags: tag === undefined ? [] : [`${repository}:${tag}`],
    repoDigests: [`${repository}@${parsed.value.digest ?? hex("digest")}`],
    sizeBytes,
  };
}

/** Returns containerd's error for an image that is missing in its registry. */
export const imageNotFound = (reference: string): KubeletError =>
  kubeletError(
    "NotFound",
    `failed to pull and unpack image "${reference}": failed to resolve reference "${reference}": ${reference}: not found`,
  );

/** Returns the image of a name, digest or id; undefined if it is not present. */
export function findImage(world: SimWorld, reference: string): SimImage | undefined {
  const byId = world.images.get(reference) ?? world.images.get(`sha256:${reference}`);
  if (byId !== undefined) return byId;
  const parsed = parseImageRef(reference);
  if (!parsed.ok) return undefined;
  const { repository, tag, digest } = parsed.value;
  const wanted = digest === undefined ? `${repository}:${tag}` : `${repository}@${digest}`;
  return [...world.images.values()].find(
    ({ repoTags, repoDigests }) => repoTags.includes(wanted) || repoDigests.includes(wanted),
  );
}

/** ListImages. */
export const listImages = (world: SimWorld, { filter }: cri.ListImagesRequest): Call<cri.ListImagesResponse> =>
  atOnce(() => {
    const wanted = filter?.image?.image ?? "";
    const found = wanted === "" ? [...world.images.values()] : [findImage(world, wanted)];
    return { images: found.filter((image) => image !== undefined).map(imageMessage) };
  });

/** ImageStatus; a missing image is an empty answer, not an error. */
export const imageStatus = (world: SimWorld, { image }: cri.ImageStatusRequest): Call<cri.ImageStatusResponse> =>
  atOnce(() => {
    const found = findImage(world, image?.image ?? "");
    return { image: found === undefined ? undefined : imageMessage(found), info: {} };
  });

/** Adds an image, or replaces the one of its id. */
export function storeImage(world: SimWorld, image: SimImage): void {
  world.images.set(image.id, image);
  world.imageChanged("image pulled", image);
}

/** PullImage: waits, then returns the image's id. Cancelling earlier pulls nothing. */
export function pullImage(
  world: SimWorld,
  registry: SimRegistry,
  { image }: cri.PullImageRequest,
): Call<cri.PullImageResponse> {
  const pull = registry(image?.image ?? "");
  return after(longTimer(world.clock, pull.ms), () => {
    if ("error" in pull) throw pull.error;
    storeImage(world, pull.image);
    return { imageRef: pull.image.id };
  });
}

/** RemoveImage; succeeds if the image is not present. */
export const removeImage = (world: SimWorld, { image }: cri.RemoveImageRequest): Call<cri.RemoveImageResponse> =>
  atOnce(() => {
    const found = findImage(world, image?.image ?? "");
    if (found !== undefined) {
      world.images.delete(found.id);
      world.imageChanged("image removed", found);
    }
    return {};
  });

/** ImageFsInfo: one file system that contains the images. */
export const imageFsInfo = (world: SimWorld): Call<cri.ImageFsInfoResponse> =>
  atOnce(() => {
    const { bytes, inodes } = imagesFill([...world.images.values()]);
    return {
      imageFilesystems: [
        {
          timestamp: world.stampNs(),
          fsId: { mountpoint: "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs" },
          usedBytes: { value: BigInt(bytes) },
          inodesUsed: { value: BigInt(inodes) },
        },
      ],
      containerFilesystems: [],
    };
  });
