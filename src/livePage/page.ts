/** The state of the page that all views share, and what is derived from it. */
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { type LaneNote, laneNote } from "./model/laneNote.ts";
import { byRank, podHealth, podTroubles } from "./model/podTroubles.ts";
import { createSteadyHealth, type SteadyPod } from "./model/steadyHealth.ts";
import type { PageState } from "./pageState.ts";

export type Theme = "auto" | "dark" | "light";

export interface Page extends PageState {
  readonly theme: Signal<Theme>;
  /** Pods with those in trouble first; undefined before the first message. */
  readonly ranked: ReadonlySignal<readonly SteadyPod[] | undefined>;
  /** Notes of the pods' lanes, by UID. */
  readonly notes: ReadonlySignal<ReadonlyMap<string, LaneNote>>;
}

/** A pod that starts is looked at again after this time: it may be in trouble by then. */
const LOOK_MS = 5_000;

/** Adds to the state what is derived from it. */
export function createPage(state: PageState): Page {
  const look = computed(() => Math.floor(state.clock.value / LOOK_MS) * LOOK_MS);
  const steady = createSteadyHealth(podTroubles);
  const ranked = computed(() => {
    const now = Math.max(look.value, state.now());
    const known = state.pods.value?.map((pod) => ({ pod, health: podHealth(pod, now) }));
    return known && byRank(steady.look(known, now));
  });
  const notes = computed(() => new Map((ranked.value ?? []).map((known) => [known.pod.uid, laneNote(known)] as const)));
  return { ...state, theme: signal<Theme>("auto"), ranked, notes };
}

export const PageContext = createContext<Page | undefined>(undefined);

/** Returns the page that a view belongs to. */
export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === undefined) throw new Error("a view is outside its page");
  return page;
}
