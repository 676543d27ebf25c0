/**
 * The last marbles of a node, with the cause of each: the latest marble about the same pod in a place that the part reads
 * which wrote it. Pure but for its memory. Bounds: MAX_KEPT marbles, MAX_SUBJECTS pods.
 */
import type { LiveMarble, LivePart } from "./liveMessages.ts";
import { MAX_BATCH, MAX_DETAIL, MAX_TEXT } from "./liveMessages.ts";

/** Marbles that late watchers still get. */
export const MAX_KEPT = 4_096;
/** Pods and removed pods whose latest marbles are known; the least recent ones are forgotten first. */
export const MAX_SUBJECTS = 1_024;

/** A marble without the facts that the log adds. */
export type MarbleDraft = Omit<LiveMarble, "id" | "part" | "cause">;

export interface MarbleLog {
  /** ID of the latest marble; 0 before the first. */
  readonly last: number;
  add(draft: MarbleDraft): void;
  /** Returns the first marbles after an ID, at most MAX_BATCH, and how many before them are lost. */
  after(id: number): { readonly marbles: readonly LiveMarble[]; readonly dropped: number };
}

/** Creates an empty log for a node with these parts. */
export function createMarbleLog(parts: readonly Pick<LivePart, "name" | "reads" | "writes">[]): MarbleLog {
  const writers = Map.groupBy(
    parts.flatMap((part) => part.writes.map((place) => ({ place, part }))),
    ({ place }) => place,
  );
  const kept: LiveMarble[] = [];
  /** IDs of the latest marbles by pod and place; the node itself has the empty name. */
  const latest = new Map<string, Map<string, number>>();
  let last = 0;
  const causeOf = (place: string, pod: string): number | undefined => {
    const known = latest.get(pod);
    const read = (writers.get(place) ?? []).flatMap(({ part }) => part.reads).filter((each) => each !== place);
    const causes = read.flatMap((each) => known?.get(each) ?? []);
    return causes.length === 0 ? undefined : Math.max(...causes);
  };
  const note = (pod: string, place: string): void => {
    const known = latest.get(pod) ?? new Map<string, number>();
    latest.delete(pod);
    latest.set(pod, known.set(place, last));
    const [oldest] = latest.keys();
    if (latest.size > MAX_SUBJECTS && oldest !== undefined) latest.delete(oldest);
  };
  return {
    get last() {
      return last;
    },
    add({ text, detail, ...draft }) {
      const { place, pod = "" } = draft;
      const owners = writers.get(place) ?? [];
      const cause = causeOf(place, pod);
      last += 1;
      kept.push({
        ...draft,
        id: last,
        text: cut(text, MAX_TEXT),
        ...(detail === undefined ? {} : { detail: cut(detail, MAX_DETAIL) }),
        ...(owners.length === 1 && owners[0] !== undefined ? { part: owners[0].part.name } : {}),
        ...(cause === undefined ? {} : { cause }),
      });
      // Half of them go at once, so that a marble costs no copy of all others.
      if (kept.length >= 2 * MAX_KEPT) kept.splice(0, kept.length - MAX_KEPT);
      note(pod, place);
    },
    after(id) {
      const first = Math.max(kept[0]?.id ?? last + 1, last - MAX_KEPT + 1);
      const from = Math.max(id + 1, first);
      const index = kept.length - (last - from + 1);
      return { marbles: kept.slice(index, index + MAX_BATCH), dropped: from - id - 1 };
    },
  };
}

const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);
