/** Bugs in garbage collection, eviction and hardware. */
import { crowdedShare } from "./crowdedShare.ts";
import { deafToShutdowns } from "./deafToShutdowns.ts";
import { describeMutants } from "./describeMutants.ts";
import { flappingPressure } from "./flappingPressure.ts";
import { forgottenCpus } from "./forgottenCpus.ts";
import { forgottenDevices } from "./forgottenDevices.ts";
import { forgottenUses } from "./forgottenUses.ts";
import { greedyImageGc } from "./greedyImageGc.ts";
import { hastyEvictions } from "./hastyEvictions.ts";
import { hastyShutdown } from "./hastyShutdown.ts";
import { hastyStarts } from "./hastyStarts.ts";
import { hastyUnprepares } from "./hastyUnprepares.ts";
import { hiddenOomKills } from "./hiddenOomKills.ts";
import { keptDevices } from "./keptDevices.ts";
import { leakedClaims } from "./leakedClaims.ts";
import { movedMemory } from "./movedMemory.ts";
import { reversedPriorities } from "./reversedPriorities.ts";
import { sharedDevices } from "./sharedDevices.ts";
import { silentDisruptions } from "./silentDisruptions.ts";
import { stayingCrowd } from "./stayingCrowd.ts";
import { unpinnedImages } from "./unpinnedImages.ts";
import { unseenThreads } from "./unseenThreads.ts";
import { unseenVolumes } from "./unseenVolumes.ts";
import { uselessReclaim } from "./uselessReclaim.ts";

describeMutants("a kubelet that breaks the resources of its node is caught", [
  forgottenUses,
  unpinnedImages,
  greedyImageGc,
  uselessReclaim,
  reversedPriorities,
  unseenVolumes,
  unseenThreads,
  silentDisruptions,
  hastyEvictions,
  flappingPressure,
  hiddenOomKills,
  crowdedShare,
  forgottenCpus,
  movedMemory,
  stayingCrowd,
  sharedDevices,
  forgottenDevices,
  hastyStarts,
  hastyShutdown,
  deafToShutdowns,
  hastyUnprepares,
  leakedClaims,
  keptDevices,
]);
