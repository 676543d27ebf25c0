/** Table of running containers and of their specs, updated from the observations of a node. */
import type { Container, Pod } from "../../core/api.ts";
import type { SimObservation } from "../simObservation.ts";

/** A running instance of a container. */
export interface LiveContainer {
  readonly id: string;
  readonly podUid: string;
  readonly name: string;
  /** `namespace/pod/name#attempt`. */
  readonly subject: string;
  readonly startedAtMs: number;
}

/** Returns the container name of `namespace/pod/name#attempt`; undefined for a subject that is not a container. */
export const containerNameOf = (subject: string): string | undefined => subject.split("/")[2]?.split("#")[0];

/** Kinds of observations that the table needs. */
export const LIVE_SIGHTS = ["wanted", "change"] as const;

/** Creates the table, which several checkers may share. Bound: running containers and all pods ever desired. */
export function liveContainers() {
  const live = new Map<string, LiveContainer>();
  const byPod = new Map<string, readonly LiveContainer[]>();
  const pods = new Map<string, Pod>();
  let last: SimObservation | undefined;
  return {
    /** Updates the table from an observation, once even when several checkers pass it. */
    look(observation: SimObservation): void {
      if (observation === last) return;
      last = observation;
      if (observation.kind === "wanted") for (const pod of observation.news) pods.set(pod.metadata.uid, pod);
      if (observation.kind !== "change") return;
      const { kind, id, podUid, name: subject } = observation.change;
      if (kind === "container exited" && live.delete(id)) {
        const others = (byPod.get(podUid) ?? []).filter((each) => each.id !== id);
        if (others.length > 0) byPod.set(podUid, others);
        else byPod.delete(podUid);
      }
      const name = containerNameOf(subject);
      if (kind !== "container started" || name === undefined) return;
      const started = { id, podUid, name, subject, startedAtMs: observation.atMs };
      live.set(id, started);
      byPod.set(podUid, [...(byPod.get(podUid) ?? []), started]);
    },
    get: (id: string): LiveContainer | undefined => live.get(id),
    ofPod: (podUid: string): readonly LiveContainer[] => byPod.get(podUid) ?? [],
    pod: (podUid: string): Pod | undefined => pods.get(podUid),
    spec({ podUid, name }: Pick<LiveContainer, "podUid" | "name">): Container | undefined {
      const { initContainers = [], containers = [] } = pods.get(podUid)?.spec ?? {};
      const isNamed = (container: Container): boolean => container.name === name;
      return containers.find(isNamed) ?? initContainers.find(isNamed);
    },
  };
}
