/**
 * A container starts only when the devices of all block volumes of its pod are bound and kept in use, and none of them is
 * released while one runs. A boot releases all. Bound: pods of the run.
 */
import type { SimChecker } from "../simChecker.ts";
import { claimDriver } from "../workload/workloadClaims.ts";

export function devicesOutliveContainers(): SimChecker {
  /** Number of block volumes by pod. */
  const wanted = new Map<string, number>();
  /** Pods by the places of their devices. */
  const kept = new Map<string, string>();
  const running = new Map<string, { readonly name: string; readonly podUid: string }>();
  return {
    name: "devicesOutliveContainers",
    sees: ["wanted", "change", "device", "boot"],
    check(observation) {
      switch (observation.kind) {
        case "boot":
          kept.clear();
          return undefined;
        case "wanted":
          for (const { metadata, spec } of observation.news) {
            const devices = (spec.volumes ?? []).filter(
              ({ persistentVolumeClaim: claim }) =>
                claim !== undefined && claimDriver(claim.claimName).volumeMode === "Block",
            );
            wanted.set(metadata.uid, devices.length);
          }
          return undefined;
        case "device": {
          const { what, path, podUid } = observation;
          if (what === "kept") kept.set(path, podUid);
          if (what !== "released") return undefined;
          kept.delete(path);
          const user = [...running.values()].find((each) => each.podUid === podUid);
          return user && `${path} is released while ${user.name} runs`;
        }
        case "change": {
          const { kind, id, podUid, name } = observation.change;
          if (kind === "container exited") running.delete(id);
          if (kind !== "container started") return undefined;
          running.set(id, { name, podUid });
          const has = [...kept.values()].filter((uid) => uid === podUid).length;
          const needs = wanted.get(podUid) ?? 0;
          return has < needs ? `${name} starts with ${has} of ${needs} devices` : undefined;
        }
        default:
          return undefined;
      }
    },
  };
}
