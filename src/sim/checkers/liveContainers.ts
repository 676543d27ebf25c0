/** The containers that run, with what their pods' specs say of them, followed by what is seen of a node. */
import type { Container, Pod } from "../../core/api.ts";
import type { SimObservation } from "../simObservation.ts";

/** One running instance. */
export interface LiveContainer {
  readonly id: string;
  readonly podUid: string;
  readonly name: string;
  /** `namespace/pod/name#attempt`. */
  readonly subject: string;
  readonly startedAtMs: number;
}

/** Of `namespace/pod/name#attempt`, or undefined for what is no container. */
export const containerNameOf = (subject: string): string | undefined => subject.split("/")[2]?.split("#")[0];

/** What the table is made of. */
export const LIVE_SIGHTS = ["wanted", "change"] as const;

/** Makes the table, which several checkers may share. Bound: what runs, and every pod that was ever wanted. */
export function liveContainers() {
  const live = new Map<string, LiveContainer>();
  const byPod = new Map<string, readonly LiveContainer[]>();
  const pods = new Map<string, Pod>();
  let last: SimObservation | undefined;
  return {
    /** Takes an observation in, once, however many checkers show it. */
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
