/** The memory limits of a process: of V8's heap, and of its own cgroup, from the texts the kernel gives. */

/** A cgroup of v1 without a limit shows the largest number of pages there is. */
const UNLIMITED_V1 = 2 ** 60;

/** The path of a process's memory cgroup in the text of /proc/self/cgroup. */
export function memoryCgroupPath(text: string, isV2: boolean): string | undefined {
  for (const [, controllers = "", path = ""] of text.matchAll(/^\d+:([^:\n]*):([^\n]*)$/gm)) {
    if (isV2 ? controllers === "" : controllers.split(",").includes("memory")) return path;
  }
  return undefined;
}

/** The limit that holds in a cgroup of v1: its own or a parent's, from the text of memory.stat. */
export function hierarchicalLimitV1(stat: string): number | undefined {
  const bytes = Number(/^hierarchical_memory_limit (\d+)$/m.exec(stat)?.[1]);
  return bytes > 0 && bytes < UNLIMITED_V1 ? bytes : undefined;
}

/** The lowest limit of a cgroup of v2 and its parents, from the texts of their memory.max. */
export function lowestLimitV2(texts: readonly string[]): number | undefined {
  const limits = texts.map((text) => text.trim()).filter((text) => /^\d+$/.test(text));
  return limits.length === 0 ? undefined : Math.min(...limits.map(Number));
}

const MIB = 1_048_576;
/** V8's default is three semi-spaces of 64 MiB. */
const DEFAULT_YOUNG_BYTES = 192 * MIB;

/**
 * Returns the limit of V8's old generation. The limit that V8 reports includes the young generation, which long-lived
 * objects cannot use: a process ends long before it. `options` are those of the command line and of NODE_OPTIONS.
 */
export function oldSpaceLimit(heapLimitBytes: number, options: readonly string[]): number {
  const mibOf = (name: string): number | undefined => {
    const option = options.findLast((each) => each.replaceAll("_", "-").startsWith(`--${name}=`));
    const mib = Number(option?.split("=")[1]);
    return mib > 0 ? mib : undefined;
  };
  const oldMib = mibOf("max-old-space-size");
  if (oldMib !== undefined) return oldMib * MIB;
  const semiMib = mibOf("max-semi-space-size");
  const youngBytes = semiMib === undefined ? DEFAULT_YOUNG_BYTES : 3 * semiMib * MIB;
  return heapLimitBytes > 2 * youngBytes ? heapLimitBytes - youngBytes : heapLimitBytes;
}
