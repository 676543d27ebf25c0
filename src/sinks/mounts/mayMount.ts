/** Returns whether this process may change the mount table. */
import { readFileSync } from "node:fs";

/** Bit of CAP_SYS_ADMIN in a capability set. */
const CAP_SYS_ADMIN = 21n;

/** Returns true with CAP_SYS_ADMIN, which root in a container may lack; false without /proc. */
export function mayMount(statusPath = "/proc/self/status"): boolean {
  try {
    const [, effective] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync(statusPath, "utf8")) ?? [];
    return effective !== undefined && ((BigInt(`0x${effective}`) >> CAP_SYS_ADMIN) & 1n) === 1n;
  } catch {
    return false;
  }
}
