/** Seeds that once found a bug, with a description of the bug. */

/** Seeds, each with the bug it found. */
export type FoundBySeed = readonly (readonly [seed: number | string, found: string])[];

/** Runs of 30 pods for 2 h, without the later faults of memory, mounts and volumes. */
export const EARLY_KUBELET_SEEDS: FoundBySeed = [
  [20, "the sandbox of an abandoned sync became ready after the next pod of that name had started"],
  [196, "a kubelet that came back to a full disk ended for good"],
  [239, "a kubelet that came back to a full disk ended for good"],
  [272, "a kubelet that came back to a full disk ended for good"],
  [10116, "after a restart a pod was admitted before the running pods were known, and did not fit beside them"],
  [40081, "a stale page dropped a terminal pod; a crash interrupted its removal, and the next kubelet restarted it"],
];

/** Runs of 30 pods for 2 h, with those faults. */
export const KUBELET_SEEDS: FoundBySeed = [
  [
    965253,
    "a volume whose token was being fetched when its pod ended was retried forever, and the pod was never removed",
  ],
];

/** Runs of 12 pods for 30 min, with those faults. */
export const SMALL_KUBELET_SEEDS: FoundBySeed = [
  [61035, "a checker applied the runtime status of the previous kubelet to the next one, which had no status yet"],
  [249, "a wall clock set back by hours delayed a pod's deadline by as much"],
  [
    22305,
    "the allocation of a busy pod was not checkpointed while its freed resources were reused; a crash lost that allocation alone",
  ],
];

/** Bugs of checkers; runs like `EARLY_KUBELET_SEEDS`. */
export const EARLY_CHECKER_SEEDS: FoundBySeed = [
  [48, "admittedFits counted a pod as running that was preempted during the creation of its sandbox"],
  [147, "a checker did not allow a pod that returned during its removal to count restarts from zero"],
  [40173, "admittedFits did not know an allocated size that was not reported before an inspection"],
  [40281, "a checker made a sidecar wait for a container whose start outlasted its sync and the kill"],
];

/** Bugs of checkers; runs like `KUBELET_SEEDS`. */
export const CHECKER_SEEDS: FoundBySeed = [
  [953511, "a checker expected the next kubelet to know the preemption of a pod whose container was not created yet"],
];

/** Bugs of checkers; runs like `SMALL_KUBELET_SEEDS`. */
export const SMALL_CHECKER_SEEDS: FoundBySeed = [
  [176, "restartCountsGrow counted a container from zero whose creation outlasted its removed pod"],
];

/** Runs of 30 pods for 2 h, with the faults of the machine's resources as well. */
export const SCARCE_KUBELET_SEEDS: FoundBySeed = [
  [72018, "a critical pod started beside an orphan that was slow to stop, without the event ExceededGracePeriod"],
];

/** Runs of 12 pods for 30 min, with those faults. */
export const SMALL_SCARCE_KUBELET_SEEDS: FoundBySeed = [
  [801116, "an evicted pod that had succeeded failed when its last container was removed before an earlier one"],
  [810166, "the exit before a restart decided the phase of a pod that was evicted while its container was created"],
  ["ce3e7c45", "a pod was evicted although another had ended since the reclaim: its image could be removed"],
  [810453, "the same, while its container was started: a pod had Succeeded and its container ran"],
  ["5c1be5d4", "after a restart a pod was rejected for resources of one that had Succeeded at the same moment"],
  ["6cfe2555", "after a restart a pod whose containers were slow to inspect had no figures and was evicted first"],
  ["45b4830a", "an attempt from before the clock was set back stayed: after a restart its exit was that of the pod"],
  [
    "a44db004",
    "after a restart an ended init container of a stopping pod counted, and another pod was rejected for it",
  ],
  ["7c331492", "an evicted pod had Succeeded and Failed later: a lost reply to a start outlived its removed container"],
  ["s17d-107", "the lease of a registered Node waited for a watch that paused after errors of the server"],
  [
    "s17h-72",
    "remains of a pod that a late event had listed were removed again and again, for a successor of its name",
  ],
  ["u17-296", "an evicted pod had Succeeded and Failed later: its last sync said afterwards that a container waited"],
  ["s17h-783", "an eviction ranked by figures from before the first listing of the runtime, which knew no pod"],
];

/** Bugs of checkers; runs like `SMALL_SCARCE_KUBELET_SEEDS`. */
export const SMALL_SCARCE_CHECKER_SEEDS: FoundBySeed = [
  ["v17-912", "noStartAfterEnd held a shutdown against the process after the boot, which the API server did not know"],
  ["t17-286", "reclaimBeforeEviction expected a collection of images before the pods of all sources were known"],
  ["t17-292", "resourcesAreAwaited let the wait for an evicted pod begin with its deletion"],
  ["e1a4675b", "noStartAfterEnd took an evicted pod whose sidecar still ran for stopped and known to the API server"],
  ["9e37732a", "reclaimBeforeEviction counted the age of an image from its pull although no collection had listed it"],
  [
    "84be0025",
    "pressureLasts took the figure of an image collection, which freed the disk, for one of the eviction manager",
  ],
  ["s17b-188", "reclaimBeforeEviction counted the age of an image from its pull, although the runtime was down since"],
  [
    "s17b-241",
    "restartsKeepTheCurve knew an exit that the runtime did not: the instance was removed beside newer ones",
  ],
  ["s17b-781", "resourcesAreAwaited took a pod that a resize preempted for one that left before the decision"],
  ["s17c-482", "evictedAreTold expected the reason Evicted of a pod that had passed its deadline but not reported it"],
  ["1f6bb44c", "evictionOrder took the size that a pod asked for before a restart of the kubelet for the size it had"],
  ["41b3a427", "desiredState denied success to an evicted pod whose new sandbox had to repeat its init container"],
  ["88d6099f", "sizesSettle expected a memory limit to shrink below what its container uses"],
  [
    810282,
    "resourcesAreAwaited expected the first decisions of a kubelet to know snapshots that waited for the list of pods",
  ],
  [
    "s17g-512",
    "resourcesAreAwaited counted a pod as leaving from its status, which was late, and not from its preemption",
  ],
  ["s17g-639", "evictionOrder judged the eviction of a pod that had a sandbox but had not run, without figures"],
  ["s17h-189", "finalPhaseStays took an evicted pod with a container that had yet to start for one that had stopped"],
];
