/** Bugs in the expansion of volumes, and in volumes that containers get as devices. */
import { describeMutants } from "./describeMutants.ts";
import { hastyExpansions } from "./hastyExpansions.ts";
import { hastyUnmaps } from "./hastyUnmaps.ts";
import { promisedSizes } from "./promisedSizes.ts";
import { refusedGrowth } from "./refusedGrowth.ts";

describeMutants("a kubelet that breaks its word to growing volumes and devices is caught", [
  hastyExpansions,
  promisedSizes,
  refusedGrowth,
  hastyUnmaps,
]);
