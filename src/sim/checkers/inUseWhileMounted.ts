/**
 * A volume that was attached is in the list `volumesInUse` of the Node from before its first mount until after its last one,
 * and is never detached meanwhile. A boot unmounts all.
 */
import { csiVolumeName, nodeVolumeName } from "../../core/csi/csiLayout.ts";
import type { SimChecker } from "../simChecker.ts";
import { isAttachedFirst } from "../storage/simCsiDrivers.ts";

/** Steps that mount nothing. */
const OTHERS: ReadonlySet<string> = new Set(["provision", "grow", "claimSize", "NodeExpandVolume"]);

export function inUseWhileMounted(): SimChecker {
  /** Names of volumes by the paths of their mounts. */
  const mounted = new Map<string, string>();
  let inUse: ReadonlySet<string> = new Set();
  const isMounted = (name: string): boolean => [...mounted.values()].includes(name);
  return {
    name: "inUseWhileMounted",
    sees: ["csi", "inUse", "boot"],
    check(observation) {
      if (observation.kind === "boot") mounted.clear();
      if (observation.kind === "inUse") {
        inUse = new Set(observation.volumes);
        const missing = [...mounted.values()].find((name) => !inUse.has(name));
        return missing && `${missing} is mounted, and no longer in use`;
      }
      if (observation.kind !== "csi" || !isAttachedFirst(observation.driver)) return undefined;
      const { driver, rpc, what, volume, path } = observation;
      const name = nodeVolumeName(csiVolumeName(driver, volume));
      if (OTHERS.has(rpc)) return undefined;
      if (rpc === "detach") return isMounted(name) ? `${name} is detached while it is mounted` : undefined;
      const isUnmount = rpc === "NodeUnpublishVolume" || rpc === "NodeUnstageVolume";
      if (what === "done" && isUnmount) mounted.delete(path);
      if (what === "done" && !isUnmount) mounted.set(path, name);
      const isUnknown = !isUnmount && (what === "asked" || what === "done") && !inUse.has(name);
      return isUnknown ? `${rpc} of ${name} is ${what}, which is not in use` : undefined;
    },
  };
}
