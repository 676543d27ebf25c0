/** The size in the status of a claim never shrinks, and never exceeds the size to which its driver has expanded the volume. */
import type { SimChecker } from "../simChecker.ts";

export function claimFollowsVolume(): SimChecker {
  /** Sizes by volume. */
  const expanded = new Map<string, bigint>();
  const told = new Map<string, bigint>();
  return {
    name: "claimFollowsVolume",
    sees: ["csi"],
    check(observation) {
      if (observation.kind !== "csi" || observation.what !== "done") return undefined;
      const { driver, rpc, volume, path, bytes = 0n } = observation;
      const name = `${driver} ${volume}`;
      const has = expanded.get(name) ?? 0n;
      if (rpc === "provision") expanded.set(name, bytes);
      if (rpc === "NodeExpandVolume" && bytes > has) expanded.set(name, bytes);
      if (rpc !== "claimSize") return undefined;
      const before = told.get(name) ?? 0n;
      told.set(name, bytes);
      if (bytes < before) return `claim ${path} shrinks from ${before} to ${bytes} bytes`;
      return bytes > has ? `claim ${path} has ${bytes} bytes, and its volume ${has}` : undefined;
    },
  };
}
