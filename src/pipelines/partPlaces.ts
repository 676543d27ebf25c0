/** Cells and queues of the parts that `kubelet.ts` runs and that use several. A part can write to those under `writes` alone. */

export const SERVICE_CELLS = ["idRanges", "volumes", "volumesInUse", "claims", "deviceAllocations"] as const;
export const SOURCE_PLACES = {
  reads: ["podStatuses", "runtimeState", "shuttingDown"],
  writes: [
    "sourcesSeen",
    "problems",
    "rollbacks",
    "configObjects",
    "apiPodObjects",
    "restored",
    "registryInputs",
    "events",
  ],
} as const;
export const PLEG_PLACES = {
  reads: ["registry", "sequence", "inspections"],
  writes: ["listing", "relistedAt", "runtimeStatuses", "runtimeLooks", "inspections", "registryInputs"],
} as const;
export const POD_PLACES = {
  reads: [
    "listing",
    "runtimeState",
    "node",
    "reportedNode",
    "pressures",
    "shuttingDown",
    "sourcesSeen",
    "registryInputs",
    "evictions",
    "devices",
    "deviceAllocations",
  ],
  writes: ["registry", "timelines", "podStatuses", "registryInputs", "inspections", "events", "exhaustedDrivers"],
} as const;
export const EVICTION_PLACES = {
  reads: ["registry"],
  writes: ["pressures", "eviction", "signalLooks", "evictions"],
} as const;
export const SHUTDOWN_PLACES = {
  reads: ["registry", "podStatuses", "apiPodObjects", "node"],
  writes: ["shuttingDown", "evictions"],
} as const;
export const GAUGE_PLACES = {
  reads: ["runtimeStatuses", "registry", "podStatuses", "apiPodObjects", "volumes", "claims"],
} as const;
export const HEALTH_PLACES = { reads: ["registry", "volumes", "csiDrivers"], writes: ["events"] } as const;
export const GARBAGE_PLACES = {
  reads: ["listing", "podStatuses", "registry", "runtimeState"],
  writes: ["events"],
} as const;
export const CLUSTER_PLACES = {
  reads: [
    "registry",
    "podStatuses",
    "apiPodObjects",
    "sourcesSeen",
    "runtimeState",
    "relistedAt",
    "pressures",
    "shuttingDown",
    "addresses",
    "cloudInstance",
    "devices",
    "csiDrivers",
    "volumesInUse",
  ],
  writes: ["node", "reportedNode", "images", "events"],
} as const;
