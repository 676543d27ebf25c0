/** The pods of a node as a table of `rxlet top`, with a cursor where there is a keyboard. Pure. */
import type { LiveContainer, LivePod, LiveWait } from "../../core/live/liveMessages.ts";
import { counted, shown, shownTable } from "./topText.ts";
import { positionLines, windowOn } from "./topWindow.ts";

/** States of a pod on the node that say more than its phase. */
const CHANGING: ReadonlySet<string> = new Set(["waiting", "rejected", "terminating"]);
const TITLES = ["POD", "READY", "STATE", "RESTARTS", "WAITS FOR"];

/** Returns the table of all pods at `now`. */
export function podLines(pods: readonly LivePod[], now: number): readonly string[] {
  if (pods.length === 0) return ["No pods."];
  return shownTable([TITLES, ...pods.map((pod) => podCells(pod, now))]);
}

/** Returns the table with the cursor on the pod at `index`, in at most `height` lines and one for the position. */
export function chosenPodLines(
  pods: readonly LivePod[],
  index: number,
  height: number,
  now: number,
): readonly string[] {
  const [title = "", ...rows] = podLines(pods, now);
  if (rows.length === 0) return [title];
  const marked = rows.map((row, at) => `${at === index ? ">" : " "} ${row}`);
  const room = Math.max(1, height - 1);
  const seen = windowOn(marked, Math.max(0, index - Math.floor(room / 2)), room);
  return [`  ${title}`, ...seen.lines, ...positionLines(seen, marked.length, "  pods")];
}

/** Describes a pod in one line at `now`. */
export const podLine = (pod: LivePod, now: number): string => {
  const [, ready, state, restarts, waits = ""] = podCells(pod, now);
  return shown(
    [state, `${ready} ready`, counted(Number(restarts), "restart"), waits].filter((text) => text !== "").join("  "),
  );
};

function podCells(pod: LivePod, now: number): readonly string[] {
  const { namespace, name, phase = "", state, containers, waits, reason, message } = pod;
  return [
    `${namespace}/${name}`,
    readyText(containers),
    phase === "" || CHANGING.has(state) ? state : phase,
    String(containers.reduce((sum, { restarts }) => sum + restarts, 0)),
    waits.map((wait) => waitText(wait, now)).join("; ") || [reason, message].filter(Boolean).join(": "),
  ];
}

function readyText(containers: readonly LiveContainer[]): string {
  const lasting = containers.filter(({ kind }) => kind !== "init");
  return `${lasting.filter(({ ready }) => ready).length}/${lasting.length}`;
}

/** Describes a wait: `CrashLoopBackOff main, next try in 12s: back-off ...`. */
function waitText({ what, container, cause, next }: LiveWait, now: number): string {
  const timer = next === undefined ? "" : `, ${next.what} in ${secondsUntil(next.at, now)}s`;
  return `${what}${container === undefined ? "" : ` ${container}`}${timer}${cause === undefined ? "" : `: ${cause}`}`;
}

const MS_PER_S = 1_000;
const secondsUntil = (at: number, now: number): number => Math.max(0, Math.ceil((at - now) / MS_PER_S));
