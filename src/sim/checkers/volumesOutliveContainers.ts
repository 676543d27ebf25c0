/**
 * A container starts only when all CSI volumes of its pod are published, and none of them is unpublished while one runs. A
 * boot unmounts all. Bound: pods of the run.
 */
import type { SimChecker } from "../simChecker.ts";

/** Devices are published beside each other, in a directory of their volume. */
const podOf = (path: string): string =>
  /\/pods\/([^/]+)\/|\/publish\/[^/]+\/([^/]+)$/.exec(path)?.slice(1).join("") ?? "";

const INLINE = "";

export function volumesOutliveContainers(): SimChecker {
  /** Claims of a pod, and its volumes without one. */
  const wanted = new Map<string, readonly string[]>();
  /** Claims with a CSI volume. */
  const provisioned = new Set([INLINE]);
  const published = new Set<string>();
  const running = new Map<string, { readonly name: string; readonly podUid: string }>();
  return {
    name: "volumesOutliveContainers",
    sees: ["wanted", "change", "csi", "boot"],
    check(observation) {
      switch (observation.kind) {
        case "boot":
          published.clear();
          return undefined;
        case "wanted":
          for (const { metadata, spec } of observation.news) {
            const names = (spec.volumes ?? []).flatMap(({ csi, persistentVolumeClaim: claim }) =>
              csi === undefined ? (claim?.claimName ?? []) : INLINE,
            );
            wanted.set(metadata.uid, names);
          }
          return undefined;
        case "csi": {
          const { rpc, what, path } = observation;
          if (rpc === "provision") provisioned.add(path);
          if (what === "done" && rpc === "NodePublishVolume") published.add(path);
          if (what === "done" && rpc === "NodeUnpublishVolume") published.delete(path);
          if (what !== "asked" || rpc !== "NodeUnpublishVolume") return undefined;
          const user = [...running.values()].find(({ podUid }) => podUid === podOf(path));
          return user && `${path} is unpublished while ${user.name} runs`;
        }
        case "change": {
          const { kind, id, podUid, name } = observation.change;
          if (kind === "container exited") running.delete(id);
          if (kind !== "container started") return undefined;
          running.set(id, { name, podUid });
          const has = [...published].filter((path) => podOf(path) === podUid).length;
          const needs = (wanted.get(podUid) ?? []).filter((claim) => provisioned.has(claim)).length;
          return has < needs ? `${name} starts with ${has} of ${needs} CSI volumes` : undefined;
        }
        default:
          return undefined;
      }
    },
  };
}
