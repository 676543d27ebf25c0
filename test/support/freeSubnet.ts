import { randomBytes } from "node:crypto";
import { networkInterfaces } from "node:os";

/** A /24 below 10.64.0.0/10 that no interface of this machine is in. */
export function freeSubnet(): string {
  const taken = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((item) => item.address));
  for (;;) {
    const [x = 0, y = 0] = randomBytes(2);
    const prefix = `10.${64 + (x % 64)}.${y}.`;
    if (!taken.some((address) => address.startsWith(prefix))) return `${prefix}0/24`;
  }
}
