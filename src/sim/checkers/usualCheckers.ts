/** The default checkers of a simulated node: each rule that is checked at every observation. */
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { SimChecker } from "../simChecker.ts";
import { admittedFits } from "./admittedFits.ts";
import { claimsPrepared } from "./claimsPrepared.ts";
import { deletedOnceStopped } from "./deletedOnceStopped.ts";
import { configNeverOlder } from "./configNeverOlder.ts";
import { disjointUserIds } from "./disjointUserIds.ts";
import { diskOutlivesContainers } from "./diskOutlivesContainers.ts";
import { evictedAreTold } from "./evictedAreTold.ts";
import { evictionOrder } from "./evictionOrder.ts";
import { finalPhaseStays } from "./finalPhaseStays.ts";
import { graceNeverGrows } from "./graceNeverGrows.ts";
import { imageGcStops } from "./imageGcStops.ts";
import { inUseWhileMounted } from "./inUseWhileMounted.ts";
import { liveContainers } from "./liveContainers.ts";
import { leaseGap } from "./leaseGap.ts";
import { neededImagesStay } from "./neededImagesStay.ts";
import { nodeReady } from "./nodeReady.ts";
import { noReturn } from "./noReturn.ts";
import { noStartAfterEnd } from "./noStartAfterEnd.ts";
import { oneContext } from "./oneContext.ts";
import { oneEvictionAtATime } from "./oneEvictionAtATime.ts";
import { oneIncarnation } from "./oneIncarnation.ts";
import { oneLiveInstance } from "./oneLiveInstance.ts";
import { oneMirror } from "./oneMirror.ts";
import { oneSandbox } from "./oneSandbox.ts";
import { oneVolumeCall } from "./oneVolumeCall.ts";
import { ownDevices } from "./ownDevices.ts";
import { ownCpus } from "./ownCpus.ts";
import { ownMemory } from "./ownMemory.ts";
import { oomKillsAreTold } from "./oomKillsAreTold.ts";
import { pressureLasts } from "./pressureLasts.ts";
import { preStopOnce } from "./preStopOnce.ts";
import { readyFollowsVerdict } from "./readyFollowsVerdict.ts";
import { reclaimBeforeEviction } from "./reclaimBeforeEviction.ts";
import { resourcesAreAwaited } from "./resourcesAreAwaited.ts";
import { restartCountsGrow } from "./restartCountsGrow.ts";
import { restartsKeepTheCurve } from "./restartsKeepTheCurve.ts";
import { serverStatusGrows } from "./serverStatusGrows.ts";
import { shutdownOrder } from "./shutdownOrder.ts";
import { sidecarsOutliveMains } from "./sidecarsOutliveMains.ts";
import { startupGatesReady } from "./startupGatesReady.ts";
import { volumesOutliveContainers } from "./volumesOutliveContainers.ts";
import { claimFollowsVolume } from "./claimFollowsVolume.ts";
import { devicesOutliveContainers } from "./devicesOutliveContainers.ts";
import { expandedInPlace } from "./expandedInPlace.ts";
import { volumeDataStays } from "./volumeDataStays.ts";
import { unstagedLast } from "./unstagedLast.ts";
import { stagedBeforePublished } from "./stagedBeforePublished.ts";
import { writesInBounds } from "./writesInBounds.ts";

/** The part of a configuration that the checkers need. */
export type CheckedConfig = Pick<
  KubeletConfig,
  | "allocatable"
  | "maxPods"
  | "containerBackoff"
  | "imageGc"
  | "evictionThresholds"
  | "pressureTransitionMs"
  | "shutdownPeriods"
  | "sources"
  | "hardware"
>;

/** Creates a new set of checkers for a node with this configuration. */
export function usualCheckers(config: CheckedConfig): readonly SimChecker[] {
  const live = liveContainers();
  const { hardware } = config;
  return [
    oneLiveInstance(),
    oneSandbox(live),
    oneIncarnation(),
    noStartAfterEnd(),
    noReturn(),
    restartCountsGrow(),
    restartsKeepTheCurve(config.containerBackoff),
    finalPhaseStays(),
    graceNeverGrows(),
    sidecarsOutliveMains(live),
    preStopOnce(live),
    startupGatesReady(live),
    readyFollowsVerdict(live),
    diskOutlivesContainers(),
    disjointUserIds(),
    admittedFits(config),
    resourcesAreAwaited(config),
    serverStatusGrows(),
    deletedOnceStopped(live),
    oneMirror(),
    writesInBounds(),
    configNeverOlder(),
    leaseGap(),
    shutdownOrder(config),
    nodeReady(),
    neededImagesStay(),
    imageGcStops(config),
    reclaimBeforeEviction(config),
    evictionOrder(),
    oneEvictionAtATime(live, config),
    evictedAreTold(),
    pressureLasts(config),
    oomKillsAreTold(),
    stagedBeforePublished(),
    unstagedLast(),
    oneVolumeCall(),
    oneContext(),
    inUseWhileMounted(),
    volumesOutliveContainers(),
    volumeDataStays(),
    expandedInPlace(),
    claimFollowsVolume(),
    devicesOutliveContainers(),
    ...(hardware === undefined ? [] : [ownDevices(), claimsPrepared()]),
    ...(hardware?.cpus === undefined ? [] : [ownCpus()]),
    ...(hardware?.memory === undefined ? [] : [ownMemory(hardware.memory)]),
  ];
}
