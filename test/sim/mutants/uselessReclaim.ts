import { map } from "rxjs";
import { noFaults } from "../../../src/sim/faults/faultKinds.ts";
import { type Mutant, withImages } from "./mutant.ts";

/** Lists no images, so that none can be removed. */
export const uselessReclaim: Mutant = {
  bug: "pods are evicted while images could be removed",
  caughtBy: "reclaimBeforeEviction",
  seed: 4,
  faults: { ...noFaults(), imagesPile: 15, diskFills: 8 },
  createKubelet: withImages((images) => ({
    listImages: (request, options) => images.listImages(request, options).pipe(map(() => ({ images: [] }))),
  })),
};
