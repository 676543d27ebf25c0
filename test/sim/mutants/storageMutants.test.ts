/** Bugs in the expansion of volumes, in volumes that containers get as devices, and in labels of mounts. */
import { describeMutants } from "./describeMutants.ts";
import { hastyExpansions } from "./hastyExpansions.ts";
import { hastyUnmaps } from "./hastyUnmaps.ts";
import { lostContexts } from "./lostContexts.ts";
import { promisedSizes } from "./promisedSizes.ts";
import { refusedGrowth } from "./refusedGrowth.ts";

describeMutants("a kubelet that breaks its word to growing volumes, devices and labels is caught", [
  hastyExpansions,
  promisedSizes,
  refusedGrowth,
  hastyUnmaps,
  lostContexts,
]);
