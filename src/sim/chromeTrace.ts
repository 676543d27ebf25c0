/**
 * Exports the history of simulated nodes in the Chrome trace format: a process per node, a track per pod with its
 * sandboxes and with marks for calls, events and statuses, and below it a track per container. Entries are ordered by
 * time; bars of one track nest. Owns all observations, unbounded.
 */
import type { SimObservation } from "./simObservation.ts";
import { traceLine } from "./simTrace.ts";

export interface ChromeTrace {
  see(observation: SimObservation, node: number): void;
  /** Returns the document. Unfinished bars end at the last observation. */
  text(): string;
}

interface Track {
  readonly pid: number;
  readonly tid: number;
}

/** Track of observations of the node as a whole. */
const NODE_TRACK = "node";
/** Number of tracks reserved below one pod, in the order of tracks. */
const TRACKS_PER_POD = 100;
const UNTRACKED: ReadonlySet<SimObservation["kind"]> = new Set(["measured", "written", "boot"] as const);
/** Offset of the text in a trace line, after time and kind. */
const LINE_TEXT = 21;

/** Creates an empty trace. */
export function createChromeTrace(): ChromeTrace {
  const entries: string[] = [];
  const add = (entry: object): void => void entries.push(JSON.stringify(entry));
  const trackOf = createTracks(add);
  /** Tracks with an open bar, by the subject of the bar. */
  const bars = new Map<string, Track>();
  let lastUs = 0;
  const begin = (id: string, name: string, node: number, pod: string, container?: string): void => {
    const taken = new Set(bars.values());
    let track: Track;
    let copy = 0;
    do {
      copy += 1;
      const below = container ?? (copy === 1 ? undefined : "sandbox");
      track = trackOf(node, pod, below === undefined || copy === 1 ? below : `${below} (${copy})`);
    } while (taken.has(track));
    bars.set(id, track);
    add({ ph: "B", name, ...track, ts: lastUs });
  };
  const end = (id: string): void => {
    const track = bars.get(id);
    if (track !== undefined && bars.delete(id)) add({ ph: "E", ...track, ts: lastUs });
  };
  return {
    see(observation, node) {
      if (UNTRACKED.has(observation.kind)) return;
      lastUs = Math.max(lastUs, Math.round(observation.atMs * 1000));
      if (observation.kind !== "change") {
        const name = traceLine(observation).slice(LINE_TEXT);
        add({ ph: "i", s: "t", cat: observation.kind, name, ...trackOf(node, podOf(observation)), ts: lastUs });
        return;
      }
      const { kind, id, name } = observation.change;
      const [namespace = "", pod = "", instance = ""] = name.split("/");
      const key = `${node} ${id}`;
      if (kind === "sandbox created") begin(key, "sandbox", node, `${namespace}/${pod}`);
      if (kind === "container started") begin(key, instance, node, `${namespace}/${pod}`, instance.split("#")[0]);
      if (kind === "container exited" || kind === "sandbox stopped" || kind === "sandbox removed") end(key);
    },
    text() {
      for (const id of [...bars.keys()]) end(id);
      return `{"displayTimeUnit":"ms","traceEvents":[\n${entries.join(",\n")}\n]}\n`;
    },
  };
}

/** Returns the track of a pod or of its container; writes its names on first use. */
function createTracks(add: (entry: object) => void) {
  const tracks = new Map<string, Track>();
  const pods = new Map<string, { readonly index: number; tracks: number }>();
  return (node: number, pod: string, below?: string): Track => {
    const key = `${node} ${pod} ${below ?? ""}`;
    const known = tracks.get(key);
    if (known !== undefined) return known;
    const group = pods.get(`${node} ${pod}`) ?? { index: pods.size, tracks: 0 };
    pods.set(`${node} ${pod}`, group);
    const track = { pid: node + 1, tid: tracks.size + 1 };
    tracks.set(key, track);
    const name = below === undefined ? pod : `${pod} ${below}`;
    const order = group.index * TRACKS_PER_POD + (below === undefined ? 0 : (group.tracks += 1));
    add({ ph: "M", name: "process_name", pid: track.pid, args: { name: `node ${node}` } });
    add({ ph: "M", name: "thread_name", ...track, args: { name } });
    add({ ph: "M", name: "thread_sort_index", ...track, args: { sort_index: order } });
    return track;
  };
}

function podOf(observation: SimObservation): string {
  switch (observation.kind) {
    case "call": {
      const [namespace, pod] = observation.subject.split("/");
      return observation.podUid === "" || pod === undefined ? NODE_TRACK : `${namespace}/${pod}`;
    }
    case "status":
      return observation.subject;
    case "event":
      return `${observation.event.object.namespace}/${observation.event.object.name}`;
    default:
      return NODE_TRACK;
  }
}
