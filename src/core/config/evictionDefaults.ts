/** The default hard eviction thresholds on Linux, for a configuration file without any. */
export const DEFAULT_EVICTION_HARD: Readonly<Record<string, string>> = {
  "imagefs.available": "15%",
  "imagefs.inodesFree": "5%",
  "memory.available": "100Mi",
  "nodefs.available": "10%",
  "nodefs.inodesFree": "5%",
};
