/** Seeds that once found a bug, each with what it found. */

/** Seeds and the fault that each found. */
export type FoundBySeed = readonly (readonly [seed: number, found: string])[];

/** Run as they were found, 30 pods for 2 h: before programs could take too much memory, and mounts and volumes fail. */
export const EARLY_KUBELET_SEEDS: FoundBySeed = [
  [20, "a sandbox whose sync was abandoned came to life after the next pod of that name had started"],
  [196, "a kubelet that came back to a full disk ended for good"],
  [239, "a kubelet that came back to a full disk ended for good"],
  [272, "a kubelet that came back to a full disk ended for good"],
  [10116, "a pod was admitted after a restart before what ran already was known, and did not fit beside it"],
  [
    40081,
    "a finished pod that a stale page left out was half removed when the kubelet crashed, and the next one began it anew",
  ],
];

/** With all faults. */
export const KUBELET_SEEDS: FoundBySeed = [
  [
    965253,
    "a volume whose token was being fetched when its pod ended was tried again for ever, and the pod never went",
  ],
];

/** Found on smaller nodes, with all faults: 12 pods, 30 min. */
export const SMALL_KUBELET_SEEDS: FoundBySeed = [
  [61035, "what the runtime had said to the last kubelet counted for the next one, which waited for its first answer"],
  [249, "a wall clock set back by hours put a pod's deadline off by as much"],
  [
    22305,
    "what a busy pod was granted was not on disk, its room was given away, and a kubelet crash undid the first alone",
  ],
];

/** Faults of checkers; runs like `EARLY_KUBELET_SEEDS`. */
export const EARLY_CHECKER_SEEDS: FoundBySeed = [
  [48, "a pod preempted while its sandbox was on its way was counted as running by the checker of admission"],
  [147, "a pod that came back while it was being removed counted restarts anew, and a checker did not allow that"],
  [
    40173,
    "a size that was granted but not told yet, for want of an inspection, was unknown to the checker of admission",
  ],
  [
    40281,
    "a container whose start outlasted its sync came up behind the kill, and a checker had a sidecar wait for it",
  ],
];

/** Faults of checkers; runs like `KUBELET_SEEDS`. */
export const CHECKER_SEEDS: FoundBySeed = [
  [
    953511,
    "a pod preempted before its container was made was adopted by the next kubelet, which never heard of it, and a checker had that know",
  ],
];

/** Faults of checkers; runs like `SMALL_KUBELET_SEEDS`. */
export const SMALL_CHECKER_SEEDS: FoundBySeed = [
  [
    176,
    "a container whose creation outlasted the want of its pod was a new beginning to the checker of restart counts",
  ],
];
