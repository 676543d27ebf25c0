/**
 * Node-local pod IPs. On Linux all of 127.0.0.0/8 is local, so each pod gets its own address in 127.64.0.0/10 to bind
 * to. The state directory determines the order of the blocks of 254 addresses, so that two runtimes on one machine
 * rarely share addresses. On other systems, and when all addresses are in use, the address is 127.0.0.1.
 */
import { createHash } from "node:crypto";

const LOOPBACK = "127.0.0.1";
/** Maximum number of addresses per runtime: 64 blocks of 254. */
const BLOCKS = 64;
const PER_BLOCK = 254;

/** Returns the first free address for this state directory. */
export function freePodAddress(stateDir: string, taken: ReadonlySet<string>, platform: NodeJS.Platform): string {
  if (platform !== "linux") return LOOPBACK;
  const [first = 0, second = 0] = createHash("sha256").update(stateDir).digest();
  for (let block = 0; block < BLOCKS; block++) {
    for (let host = 1; host <= PER_BLOCK; host++) {
      const address = `127.${64 + (first % 64)}.${(second + block) % 256}.${host}`;
      if (!taken.has(address)) return address;
    }
  }
  return LOOPBACK;
}
