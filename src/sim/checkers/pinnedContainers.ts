/** Hardware that containers ask for, for themselves, and that they were created with. */
import type { Container, Pod } from "../../core/api.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import type { PodSource } from "../../core/pod/sourceSnapshot.ts";
import { parseResourceList, resourceMilli, resourceValue } from "../../core/resources/resourceList.ts";
import type { SimObservation } from "../simObservation.ts";
import { containerNameOf } from "./liveContainers.ts";

/** CPUs and memory that a container asks for, for itself. */
export interface PinnedDemand {
  /** 0: it shares CPUs. */
  readonly cpus: number;
  /** 0: its memory may be anywhere. */
  readonly bytes: number;
}

const NOTHING: PinnedDemand = { cpus: 0, bytes: 0 };

/** Creates the table. Bound: containers in the runtime and all pods ever desired. */
export function pinnedContainers() {
  const demands = new Map<string, PinnedDemand>();
  const created = new Map<string, { readonly cpus: string; readonly mems: string }>();
  /** CPUs and NUMA nodes of containers at their first start, by pod and then by kind and name. */
  const homes = new Map<string, Map<string, string>>();
  const sources = new Map<string, PodSource>();
  const keyOf = (podUid: string, subject: string): string => `${podUid}/${containerNameOf(subject) ?? ""}`;
  return {
    look(observation: SimObservation): void {
      if (observation.kind === "wanted") {
        const { source, podUids, news } = observation;
        for (const pod of news) {
          sources.set(pod.metadata.uid, source);
          for (const [key, demand] of demandsOf(pod)) demands.set(key, demand);
        }
        // A static pod that comes back has the same UID, and another life.
        for (const uid of homes.keys()) if (sources.get(uid) === source && !podUids.has(uid)) homes.delete(uid);
      }
      // A static pod that a shutdown of the machine has ended starts another life as well.
      if (observation.kind === "status" && isTerminalPhase(observation.after?.phase)) homes.delete(observation.podUid);
      if (observation.kind !== "change") return;
      const { kind, id, cpus = "", mems = "" } = observation.change;
      if (kind === "container created") created.set(id, { cpus, mems });
      if (kind === "container removed") created.delete(id);
    },
    wanted: (podUid: string, subject: string): PinnedDemand => demands.get(keyOf(podUid, subject)) ?? NOTHING,
    created: (id: string) => created.get(id),
    /** Returns what the container had at its first start, which is this one if there was none. */
    home(podUid: string, subject: string, what: string, now: string): string {
      const key = `${what} ${containerNameOf(subject)}`;
      const ofPod = homes.get(podUid) ?? new Map<string, string>();
      homes.set(podUid, ofPod);
      const first = ofPod.get(key) ?? now;
      ofPod.set(key, first);
      return first;
    },
  };
}

/** Returns what each container of a Guaranteed pod asks for: limits equal requests in all of them. */
function demandsOf({ metadata: { uid }, spec }: Pod): readonly (readonly [string, PinnedDemand])[] {
  const all: readonly Container[] = [...(spec.initContainers ?? []), ...spec.containers];
  const isGuaranteed = all.every(({ resources: { requests, limits } = {} }) =>
    ["cpu", "memory"].every((name) => limits?.[name] !== undefined && limits[name] === requests?.[name]),
  );
  if (!isGuaranteed || spec.resources !== undefined) return [];
  return all.map(({ name, resources }) => {
    const requests = parseResourceList(resources?.requests);
    const milli = Number(resourceMilli(requests, "cpu"));
    const cpus = milli % 1_000 === 0 ? milli / 1_000 : 0;
    return [`${uid}/${name}`, { cpus, bytes: Number(resourceValue(requests, "memory")) }] as const;
  });
}
