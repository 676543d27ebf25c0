/**
 * What happened on simulated nodes in the Chrome trace format, for any viewer of it: a process per node, a track per
 * pod, bars for sandboxes and containers, marks for calls, events and statuses. Owns all it was shown, unbounded.
 */
import type { SimObservation } from "./simObservation.ts";
import { traceLine } from "./simTrace.ts";

export interface ChromeTrace {
  see(observation: SimObservation, node: number): void;
  /** The document. Bars that have not ended yet end at the last thing seen. */
  text(): string;
}

interface Track {
  readonly pid: number;
  readonly tid: number;
}

interface Bar extends Track {
  readonly name: string;
  readonly startUs: number;
}

/** Track of what concerns the node as a whole. */
const NODE_TRACK = "node";

/** Makes an empty trace. */
export function createChromeTrace(): ChromeTrace {
  const entries: string[] = [];
  const tracks = new Map<string, Track>();
  const bars = new Map<string, Bar>();
  let lastUs = 0;
  const add = (entry: object): void => void entries.push(JSON.stringify(entry));
  const trackOf = (node: number, pod: string): Track => {
    const key = `${node} ${pod}`;
    const known = tracks.get(key);
    if (known !== undefined) return known;
    const track = { pid: node + 1, tid: tracks.size + 1 };
    tracks.set(key, track);
    add({ ph: "M", name: "process_name", pid: track.pid, args: { name: `node ${node}` } });
    add({ ph: "M", name: "thread_name", ...track, args: { name: pod } });
    return track;
  };
  const end = (id: string, atUs: number): void => {
    const bar = bars.get(id);
    if (bar === undefined || !bars.delete(id)) return;
    const { name, pid, tid, startUs } = bar;
    add({ ph: "X", name, pid, tid, ts: startUs, dur: Math.max(1, atUs - startUs) });
  };
  const seeChange = ({ change }: SimObservation & { readonly kind: "change" }, node: number, atUs: number): void => {
    const { kind, id, name } = change;
    const [namespace = "", pod = "", container] = name.split("/");
    const key = `${node} ${id}`;
    if (kind === "container started" || kind === "sandbox created") {
      const track = trackOf(node, `${namespace}/${pod}`);
      bars.set(key, { ...track, name: container ?? "sandbox", startUs: atUs });
    }
    if (kind === "container exited" || kind === "sandbox stopped" || kind === "sandbox removed") end(key, atUs);
  };
  return {
    see(observation, node) {
      const atUs = Math.round(observation.atMs * 1000);
      lastUs = Math.max(lastUs, atUs);
      if (observation.kind === "change") seeChange(observation, node, atUs);
      else {
        const pod = podOf(observation);
        // The part of the line after time and kind.
        const name = traceLine(observation).slice(21);
        add({ ph: "i", s: "t", cat: observation.kind, name, ...trackOf(node, pod), ts: atUs });
      }
    },
    text() {
      for (const id of [...bars.keys()]) end(id, lastUs);
      return `{"displayTimeUnit":"ms","traceEvents":[\n${entries.join(",\n")}\n]}\n`;
    },
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
