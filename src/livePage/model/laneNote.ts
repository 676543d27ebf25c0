/** The state of a pod in the words of its lane. */
import { type PodHealth, podTroubles } from "./podTroubles.ts";
import { shownText } from "./shownText.ts";
import type { SteadyPod } from "./steadyHealth.ts";

export interface LaneNote {
  readonly health: PodHealth;
  readonly text: string;
  /** The next timer. */
  readonly nextAt: number | undefined;
}

const MAX_NOTE = 80;

/** Returns the reason why the pod is not ready, or from which it recovers; an empty text when there is none. */
export function laneNote({ pod, health, past }: SteadyPod): LaneNote {
  const trouble = past?.[0] ?? (health === "ready" || health === "done" ? undefined : podTroubles(pod)[0]);
  if (past !== undefined)
    return { health, text: `after ${shownText(trouble?.title ?? "", MAX_NOTE)}`, nextAt: undefined };
  return { health, text: shownText(trouble?.title ?? "", MAX_NOTE), nextAt: trouble?.next?.at };
}
