/** The hard eviction thresholds of a Linux node whose configuration file names none. */
export const DEFAULT_EVICTION_HARD: Readonly<Record<string, string>> = {
  "imagefs.available": "15%",
  "imagefs.inodesFree": "5%",
  "memory.available": "100Mi",
  "nodefs.available": "10%",
  "nodefs.inodesFree": "5%",
};
