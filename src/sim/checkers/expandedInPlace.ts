/**
 * A driver is asked to expand a volume only at a place where it is published, and a staged one while it is staged, to no more
 * than its size in the storage system. A boot unmounts all.
 */
import type { SimChecker } from "../simChecker.ts";
import { isStagedFirst } from "../storage/simCsiDrivers.ts";

export function expandedInPlace(): SimChecker {
  const published = new Set<string>();
  const staged = new Set<string>();
  const sizes = new Map<string, bigint>();
  return {
    name: "expandedInPlace",
    sees: ["csi", "boot"],
    check(observation) {
      if (observation.kind === "boot") {
        published.clear();
        staged.clear();
      }
      if (observation.kind !== "csi") return undefined;
      const { driver, rpc, what, volume, path, bytes = 0n } = observation;
      const name = `${driver} ${volume}`;
      if (what === "done" && (rpc === "provision" || rpc === "grow")) sizes.set(name, bytes);
      if (what === "done" && rpc === "NodePublishVolume") published.add(path);
      if (what === "done" && rpc === "NodeUnpublishVolume") published.delete(path);
      if (what === "done" && rpc === "NodeStageVolume") staged.add(name);
      if (what === "done" && rpc === "NodeUnstageVolume") staged.delete(name);
      if (what !== "asked" || rpc !== "NodeExpandVolume") return undefined;
      const asked = `${driver} is asked to expand ${volume}`;
      if (!published.has(path)) return `${asked} at ${path}, where it is not published`;
      if (isStagedFirst(driver) && !staged.has(name)) return `${asked}, which is not staged`;
      const size = sizes.get(name) ?? 0n;
      return bytes > size ? `${asked} to ${bytes} bytes, which has ${size}` : undefined;
    },
  };
}
