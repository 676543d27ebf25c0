/** The checker for each bug reports the broken kubelet within 200 seeds. */
import { describe, expect, it } from "vitest";
import { simulateSeed } from "../../../src/sim/simulateSeed.ts";
import { SEED_PATIENCE_MS } from "../../support/seedRun.ts";
import { believedOrders } from "./believedOrders.ts";
import { deafToSources } from "./deafToSources.ts";
import { diskFirst } from "./diskFirst.ts";
import { crowdedShare } from "./crowdedShare.ts";
import { droppedStatuses } from "./droppedStatuses.ts";
import { doubleBooking } from "./doubleBooking.ts";
import { eagerRestarts } from "./eagerRestarts.ts";
import { flatCurve } from "./flatCurve.ts";
import { flappingPressure } from "./flappingPressure.ts";
import { forgottenCpus } from "./forgottenCpus.ts";
import { forgottenRestarts } from "./forgottenRestarts.ts";
import { forgottenUses } from "./forgottenUses.ts";
import { greedyImageGc } from "./greedyImageGc.ts";
import { growingGrace } from "./growingGrace.ts";
import { hastyDeletion } from "./hastyDeletion.ts";
import { hastyEvictions } from "./hastyEvictions.ts";
import { hastySuccessor } from "./hastySuccessor.ts";
import { hastyTenants } from "./hastyTenants.ts";
import { hiddenOomKills } from "./hiddenOomKills.ts";
import { impatientWriter } from "./impatientWriter.ts";
import { lateFarewells } from "./lateFarewells.ts";
import { lazyRenewals } from "./lazyRenewals.ts";
import { leakedCgroups } from "./leakedCgroups.ts";
import { leakedLogs } from "./leakedLogs.ts";
import type { Mutant } from "./mutant.ts";
import { movedMemory } from "./movedMemory.ts";
import { newSandboxFirst } from "./newSandboxFirst.ts";
import { oldNews } from "./oldNews.ts";
import { openDoors } from "./openDoors.ts";
import { readyRegardless } from "./readyRegardless.ts";
import { repeatedHooks } from "./repeatedHooks.ts";
import { restartedWhileStopping } from "./restartedWhileStopping.ts";
import { reversedPriorities } from "./reversedPriorities.ts";
import { revivedPods } from "./revivedPods.ts";
import { secondMirror } from "./secondMirror.ts";
import { sharedDevices } from "./sharedDevices.ts";
import { forgottenDevices } from "./forgottenDevices.ts";
import { hastyStarts } from "./hastyStarts.ts";
import { hastyUnprepares } from "./hastyUnprepares.ts";
import { leakedClaims } from "./leakedClaims.ts";
import { keptDevices } from "./keptDevices.ts";
import { hastyPublishes } from "./hastyPublishes.ts";
import { hastyUnstages } from "./hastyUnstages.ts";
import { doubleStages } from "./doubleStages.ts";
import { secretUses } from "./secretUses.ts";
import { leakedStages } from "./leakedStages.ts";
import { hastyUnpublishes } from "./hastyUnpublishes.ts";
import { sharedUserIds } from "./sharedUserIds.ts";
import { sidecarsFirst } from "./sidecarsFirst.ts";
import { silentDisruptions } from "./silentDisruptions.ts";
import { skippedStartup } from "./skippedStartup.ts";
import { stayingCrowd } from "./stayingCrowd.ts";
import { staleObjects } from "./staleObjects.ts";
import { trustedRuntime } from "./trustedRuntime.ts";
import { trustedEvents } from "./trustedEvents.ts";
import { unmadeSizes } from "./unmadeSizes.ts";
import { unmountFirst } from "./unmountFirst.ts";
import { unpinnedImages } from "./unpinnedImages.ts";
import { unseenThreads } from "./unseenThreads.ts";
import { unseenVolumes } from "./unseenVolumes.ts";
import { uselessReclaim } from "./uselessReclaim.ts";

const MAX_SEEDS = 200;
const PODS = 8;
const DURATION_MS = 15 * 60_000;

const MUTANTS: readonly Mutant[] = [
  growingGrace,
  trustedEvents,
  forgottenRestarts,
  diskFirst,
  unmountFirst,
  sharedUserIds,
  deafToSources,
  newSandboxFirst,
  restartedWhileStopping,
  believedOrders,
  hastySuccessor,
  hastyTenants,
  lateFarewells,
  revivedPods,
  openDoors,
  leakedCgroups,
  leakedLogs,
  eagerRestarts,
  flatCurve,
  repeatedHooks,
  sidecarsFirst,
  skippedStartup,
  readyRegardless,
  unmadeSizes,
  oldNews,
  hastyDeletion,
  secondMirror,
  impatientWriter,
  droppedStatuses,
  staleObjects,
  lazyRenewals,
  trustedRuntime,
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
  doubleBooking,
  crowdedShare,
  forgottenCpus,
  movedMemory,
  stayingCrowd,
  sharedDevices,
  forgottenDevices,
  hastyStarts,
  hastyUnprepares,
  leakedClaims,
  keptDevices,
  hastyPublishes,
  hastyUnstages,
  doubleStages,
  secretUses,
  leakedStages,
  hastyUnpublishes,
];

/** Returns the first seed whose run the checker reports; undefined beyond the limit. */
function firstSeed({ createKubelet, caughtBy, pods = PODS, faults, workload = "drawn" }: Mutant): number | undefined {
  for (let seed = 1; seed <= MAX_SEEDS; seed += 1) {
    const { violations } = simulateSeed({
      seed,
      pods,
      durationMs: DURATION_MS,
      faults: faults ?? "default",
      workload,
      createKubelet,
    });
    if (violations.some(({ checker }) => checker === caughtBy)) return seed;
  }
  return undefined;
}

describe("a broken kubelet is caught", () => {
  it.each(MUTANTS)(
    "$caughtBy: $bug",
    (mutant) => {
      const seed = firstSeed(mutant);
      process.stdout.write(`      ${mutant.caughtBy}: ${seed} seeds until "${mutant.bug}"\n`);
      expect(seed).toBeLessThanOrEqual(MAX_SEEDS);
    },
    SEED_PATIENCE_MS,
  );
});
