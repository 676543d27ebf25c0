import { map } from "rxjs";
import { fullOfImages, type Mutant, withImages } from "./mutant.ts";

const ALIAS = "alias of ";

/** Lists images under names that no pod and no container has. */
export const forgottenUses: Mutant = {
  bug: "image garbage collection removes images in use",
  caughtBy: "neededImagesStay",
  faults: fullOfImages(),
  createKubelet: withImages((images) => ({
    listImages: (request, options) =>
      images.listImages(request, options).pipe(
        map((answer) => ({
          images: answer.images.map((image) => ({
            ...image,
            id: `${ALIAS}${image.id}`,
            repoTags: [],
            repoDigests: [],
          })),
        })),
      ),
    removeImage(request, options) {
      const image = request.image && { ...request.image, image: request.image.image.replace(ALIAS, "") };
      return images.removeImage({ ...request, image }, options);
    },
  })),
};
