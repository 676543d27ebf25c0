/**
 * No driver is asked to stage or publish a volume with another SELinux context than the one with which it has staged the volume,
 * before it has unstaged it: one mount has one context. A boot unmounts all.
 */
import type { SimChecker } from "../simChecker.ts";

const MOUNTING: ReadonlySet<string> = new Set(["NodeStageVolume", "NodePublishVolume"]);
const NONE = "none";

/** Bound: the staged volumes. */
export function oneContext(): SimChecker {
  const staged = new Map<string, string>();
  return {
    name: "oneContext",
    sees: ["csi", "boot"],
    check(observation) {
      if (observation.kind === "boot") staged.clear();
      if (observation.kind !== "csi") return undefined;
      const { driver, rpc, what, volume, context = NONE } = observation;
      const name = `${driver} ${volume}`;
      const known = staged.get(name);
      if (what === "done" && rpc === "NodeStageVolume" && known === undefined) staged.set(name, context);
      if (what === "done" && rpc === "NodeUnstageVolume") staged.delete(name);
      const isOther = what === "asked" && MOUNTING.has(rpc) && known !== undefined && known !== context;
      return isOther
        ? `${driver} is asked to mount ${volume} with ${context}, and has staged it with ${known}`
        : undefined;
    },
  };
}
