/** ImageService over the images of Docker. */
import fs from "node:fs/promises";
import { ImageFsInfoResponse, type ImageServiceDefinition, type ImageSpec } from "../gen/cri.ts";
import { wallClockNs } from "../criServer/wallClockNs.ts";
import type { ServiceHandlers } from "../grpcServer/grpcService.ts";
import { invalidArgument } from "../grpcServer/rpcFault.ts";
import { isNotFound } from "./engine/engineFault.ts";
import { imageDetails, imageList } from "./engine/images.ts";
import type { ImageDetails } from "./engine/images.ts";
import { checkedImage, imagePath, pullImage } from "./imagePulls.ts";
import { imageMessage, isShortId } from "./mapping/imageMessages.ts";
import type { Shim } from "./shim.ts";
import type { WritableSizes } from "./writableSizes.ts";

/** A version of the Engine API that tells the size that images share. */
const TELLS_SHARED_SIZE = 42;

/** Returns the handlers of ImageService. */
export function imageCalls(shim: Shim, sizes: WritableSizes): ServiceHandlers<ImageServiceDefinition["methods"]> {
  const { docker, podSandboxImage } = shim;
  return {
    listImages: async ({ filter }) => {
      const wanted = filter?.image?.image ?? "";
      const images = imageList(await docker.engine.call({ method: "GET", path: "/images/json" }));
      const one = wanted === "" ? undefined : await find(shim, wanted);
      const listed = wanted === "" ? images : images.filter(({ id }) => id === one?.id);
      return { images: listed.map((image) => imageMessage(image, podSandboxImage)) };
    },
    imageStatus: async ({ image, verbose }) => {
      const found = await find(shim, nameOf(image));
      if (found === undefined) return { image: undefined, info: {} };
      return {
        image: imageMessage(found, podSandboxImage),
        info: verbose ? { info: JSON.stringify({ id: found.id }) } : {},
      };
    },
    pullImage: async ({ image, auth }, signal) => ({
      imageRef: await pullImage(docker.engine, nameOf(image), auth, signal),
    }),
    removeImage: async ({ image }) => {
      const found = await find(shim, nameOf(image));
      if (found !== undefined) await remove(shim, found);
      return {};
    },
    imageFsInfo: () => fileSystems(shim, sizes),
  };
}

function nameOf(image: ImageSpec | undefined): string {
  if (image === undefined || image.image === "") throw invalidArgument("image.image", "a name is required");
  return image.image;
}

/** Docker also takes the begin of an id for a name: such an image was not asked for. */
async function find({ docker }: Shim, name: string): Promise<ImageDetails | undefined> {
  try {
    const found = imageDetails(await docker.engine.call({ method: "GET", path: imagePath(name) }));
    return isShortId(name, found) ? undefined : found;
  } catch (thrown) {
    if (isNotFound(thrown)) return undefined;
    throw thrown;
  }
}

/** An image goes with the last of its names. */
async function remove({ docker }: Shim, { id, tags, digests }: ImageDetails): Promise<void> {
  for (const name of [...tags, ...digests, id]) {
    try {
      await docker.engine.call({ method: "DELETE", path: `/images/${checkedImage(name)}` });
    } catch (thrown) {
      if (!isNotFound(thrown)) throw thrown;
    }
  }
}

async function fileSystems(shim: Shim, sizes: WritableSizes): Promise<ImageFsInfoResponse> {
  const { docker } = shim;
  const [{ rootDir }, version] = await Promise.all([shim.info(), docker.engine.version()]);
  const query = version.atLeast(TELLS_SHARED_SIZE) ? { "shared-size": 1 } : {};
  const images = imageList(await docker.engine.call({ method: "GET", path: "/images/json", query }));
  // Users of Docker without root may have no access to its directory.
  const inodes = await fs.statfs(rootDir, { bigint: true }).catch(() => undefined);
  const timestamp = wallClockNs();
  const fsId = { mountpoint: rootDir };
  const usage = (usedBytes: bigint) => ({ timestamp, fsId, usedBytes: { value: usedBytes } });
  return ImageFsInfoResponse.fromPartial({
    imageFilesystems: [
      { ...usage(totalSize(images)), ...(inodes && { inodesUsed: { value: inodes.files - inodes.ffree } }) },
    ],
    containerFilesystems: [usage(await sizes.total())],
  });
}

/** Counts what several images share once per size, as upstream: Docker does not tell which images share. */
function totalSize(images: readonly ImageDetails[]): bigint {
  const shared = new Set(images.flatMap(({ sharedSize }) => (sharedSize === undefined ? [] : [sharedSize])));
  const own = images.reduce((sum, { size, sharedSize }) => sum + size - (sharedSize ?? 0n), 0n);
  return [...shared].reduce((sum, size) => sum + size, own);
}
