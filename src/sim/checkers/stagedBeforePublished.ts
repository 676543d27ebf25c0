/** No driver that stages volumes is asked to publish one that is not staged. A boot unmounts all. */
import type { SimChecker } from "../simChecker.ts";
import { isStagedFirst } from "../storage/simCsiDrivers.ts";

export function stagedBeforePublished(): SimChecker {
  const staged = new Set<string>();
  return {
    name: "stagedBeforePublished",
    sees: ["csi", "boot"],
    check(observation) {
      if (observation.kind === "boot") staged.clear();
      if (observation.kind !== "csi") return undefined;
      const { driver, rpc, what, volume } = observation;
      const name = `${driver} ${volume}`;
      if (what === "done" && rpc === "NodeStageVolume") staged.add(name);
      if (what === "done" && rpc === "NodeUnstageVolume") staged.delete(name);
      const isEarly = what === "asked" && rpc === "NodePublishVolume" && isStagedFirst(driver) && !staged.has(name);
      return isEarly ? `${driver} is asked to publish ${volume}, which is not staged` : undefined;
    },
  };
}
