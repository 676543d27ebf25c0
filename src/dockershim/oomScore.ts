/**
 * The lowest score of the out-of-memory killer that a container can be given. A machine whose processes have no
 * CAP_SYS_RESOURCE, such as some virtual ones, cannot lower a score below that of its daemons: asked for it, the start
 * would fail.
 */
import { readFile } from "node:fs/promises";

const LOWEST = -1000;
const CAP_SYS_RESOURCE = 24n;

/** Looks at what processes of this machine can have at most. */
export async function lowestOomScore(): Promise<number> {
  const bounding = /^CapBnd:\s*([0-9a-f]{1,16})$/m.exec(await readFile("/proc/self/status", "utf8"))?.[1] ?? "0";
  if ((BigInt(`0x${bounding}`) >> CAP_SYS_RESOURCE) % 2n === 1n) return LOWEST;
  return Number((await readFile("/proc/self/oom_score_adj", "utf8")).trim());
}
