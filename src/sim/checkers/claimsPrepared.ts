/**
 * No container starts before all drivers have prepared all claims of its pod, and no driver is asked to unprepare a claim while
 * a container of one of its pods runs. A boot forgets what drivers have prepared. Models the rule without the code of the
 * kubelet. Bound: claims and containers of the run.
 */
import type { SimChecker } from "../simChecker.ts";

interface KnownClaim {
  readonly name: string;
  readonly drivers: readonly string[];
  /** Pods for which it was ever reserved. */
  readonly podUids: ReadonlySet<string>;
}

export function claimsPrepared(): SimChecker {
  const claims = new Map<string, KnownClaim>();
  /** Number of claims that a pod names. */
  const named = new Map<string, number>();
  /** `driver claim` of all prepared claims. */
  const prepared = new Set<string>();
  const running = new Map<string, { readonly name: string; readonly podUid: string }>();
  const openOf = (podUid: string): string | undefined => {
    const count = named.get(podUid) ?? 0;
    if (count === 0) return undefined;
    const own = [...claims].filter(([, { podUids }]) => podUids.has(podUid));
    if (own.length < count) return `${own.length} of ${count} claims are reserved`;
    for (const [uid, { name, drivers }] of own) {
      const open = drivers.find((driver) => !prepared.has(`${driver} ${uid}`));
      if (open !== undefined) return `the claim ${name} is not prepared by ${open}`;
    }
    return undefined;
  };
  const userOf = (claimUid: string) =>
    [...running.values()].find(({ podUid }) => claims.get(claimUid)?.podUids.has(podUid) === true);
  return {
    name: "claimsPrepared",
    sees: ["wanted", "change", "driver", "claim", "boot"],
    check(observation) {
      switch (observation.kind) {
        case "boot":
          prepared.clear();
          return undefined;
        case "wanted":
          for (const { metadata, spec } of observation.news) {
            named.set(metadata.uid, (spec.resourceClaims ?? []).length);
          }
          return undefined;
        case "claim": {
          const { uid, name, drivers } = observation;
          const podUids = new Set([...(claims.get(uid)?.podUids ?? []), ...observation.podUids]);
          claims.set(uid, { name, drivers, podUids });
          return undefined;
        }
        case "driver": {
          const { driver, rpc, what } = observation;
          for (const uid of observation.claims) {
            if (what === "done" && rpc === "prepare") prepared.add(`${driver} ${uid}`);
            if (what === "done" && rpc === "unprepare") prepared.delete(`${driver} ${uid}`);
            const user = rpc === "unprepare" ? userOf(uid) : undefined;
            if (user === undefined) continue;
            return `${driver} is asked to unprepare ${claims.get(uid)?.name} while ${user.name} runs`;
          }
          return undefined;
        }
        case "change": {
          const { kind, id, podUid, name } = observation.change;
          if (kind === "container exited") running.delete(id);
          if (kind !== "container started") return undefined;
          running.set(id, { name, podUid });
          const open = openOf(podUid);
          return open && `${name} starts, but ${open}`;
        }
        default:
          return undefined;
      }
    },
  };
}
