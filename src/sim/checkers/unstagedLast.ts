/** No driver is asked to unstage a volume that is published for a pod. A boot unmounts all. */
import type { SimChecker } from "../simChecker.ts";

export function unstagedLast(): SimChecker {
  /** Volumes by the paths of their pods. */
  const published = new Map<string, string>();
  return {
    name: "unstagedLast",
    sees: ["csi", "boot"],
    check(observation) {
      if (observation.kind === "boot") published.clear();
      if (observation.kind !== "csi") return undefined;
      const { driver, rpc, what, volume, path } = observation;
      const name = `${driver} ${volume}`;
      if (what === "done" && rpc === "NodePublishVolume") published.set(path, name);
      if (what === "done" && rpc === "NodeUnpublishVolume") published.delete(path);
      if (what !== "asked" || rpc !== "NodeUnstageVolume") return undefined;
      const [user] = [...published].find(([, each]) => each === name) ?? [];
      return user && `${driver} is asked to unstage ${volume}, which is published at ${user}`;
    },
  };
}
