/** ImageService with the single image `rxlet.dev/host`; pulls of other images fail. */
import fs from "node:fs";
import { status } from "@grpc/grpc-js";
import type { FilesystemUsage, ImageServiceDefinition, ImageSpec } from "../gen/cri.ts";
import type { ServiceHandlers } from "../grpcServer/grpcService.ts";
import { HOST_IMAGE_ID, HOST_IMAGE_NAME, hostImage, meansHostImage } from "./hostImage.ts";
import { invalidArgument, RpcFault } from "../grpcServer/rpcFault.ts";
import { wallClockNs } from "../criServer/wallClockNs.ts";

/** Returns the handlers of ImageService. The reported image file system is that of the state directory. */
export function imageCalls(stateDir: string): ServiceHandlers<ImageServiceDefinition["methods"]> {
  return {
    listImages: ({ filter }) => {
      const wanted = filter?.image?.image ?? "";
      return { images: wanted === "" || meansHostImage(wanted) ? [hostImage()] : [] };
    },
    imageStatus: ({ image, verbose }) => {
      if (!meansHostImage(nameOf(image))) return { image: undefined, info: {} };
      return { image: hostImage(), info: verbose ? { info: '"the programs of this machine"' } : {} };
    },
    pullImage: ({ image }) => {
      const name = nameOf(image);
      if (meansHostImage(name)) return { imageRef: HOST_IMAGE_ID };
      throw new RpcFault(
        status.NOT_FOUND,
        `image "${name}" not found: the embedded runtime has no registry and only one image, ${HOST_IMAGE_NAME}, ` +
          "which is the programs of this machine; use containerd to run other images",
      );
    },
    removeImage: ({ image }) => {
      if (meansHostImage(nameOf(image))) {
        throw new RpcFault(status.FAILED_PRECONDITION, `image "${HOST_IMAGE_NAME}" is this machine and stays`);
      }
      return {};
    },
    imageFsInfo: async () => {
      const usage = await fileSystemUsage(stateDir);
      return { imageFilesystems: [usage], containerFilesystems: [usage] };
    },
  };
}

function nameOf(image: ImageSpec | undefined): string {
  if (image === undefined || image.image === "") throw invalidArgument("image.image", "a name is required");
  return image.image;
}

async function fileSystemUsage(dir: string): Promise<FilesystemUsage> {
  const { bsize, blocks, bfree, files, ffree } = await fs.promises.statfs(dir, { bigint: true });
  return {
    timestamp: wallClockNs(),
    fsId: { mountpoint: dir },
    usedBytes: { value: (blocks - bfree) * bsize },
    inodesUsed: { value: files - ffree },
  };
}
