import { map } from "rxjs";
import { fullOfImages, type Mutant, withImages } from "./mutant.ts";

/** Lists every image as not pinned. */
export const unpinnedImages: Mutant = {
  bug: "image garbage collection removes pinned images",
  caughtBy: "neededImagesStay",
  faults: fullOfImages(),
  createKubelet: withImages((images) => ({
    listImages: (request, options) =>
      images
        .listImages(request, options)
        .pipe(map((answer) => ({ images: answer.images.map((image) => ({ ...image, pinned: false })) }))),
  })),
};
