/** The screen of `rxlet top` as lines. Pure. */
import { fitLines, type TerminalSize } from "../drawBlock.ts";
import { bodyHeight, bodyLines, TOP_VIEWS } from "./topBody.ts";
import { podView } from "./topPod.ts";
import { chosenPodLines, podLines } from "./topPods.ts";
import type { TopState } from "./topState.ts";
import { shown } from "./topText.ts";
import { positionLines, windowOn } from "./topWindow.ts";

/** Returns the lines at `now` (milliseconds since the epoch), cut to the screen: the open pod, else the view with its head. */
export function topLines(state: TopState, size: TerminalSize, now: number): readonly string[] {
  const { model, pod } = state;
  const lines =
    pod === undefined ? [...headLines(state), ...viewLines(state, size, now)] : podView(pod, model, size, now);
  return fitLines(lines, size);
}

function headLines({ model: { graph, problem }, view, cursor }: TopState): readonly string[] {
  const title = graph === undefined ? "no node yet" : `node ${shown(graph.node)}  ${shown(graph.version)}`;
  const tabs = TOP_VIEWS.map((name, index) => (name === view ? `[${index + 1} ${name}]` : ` ${index + 1} ${name} `));
  const keys = cursor !== undefined && view === "pods" ? "Enter opens a pod   q ends" : "q ends";
  return [`${title}   ${tabs.join(" ")}   ${keys}`, ...(problem === undefined ? [] : [`! ${shown(problem)}`]), ""];
}

/** Returns all lines without a keyboard, else those that the screen has room for. */
function viewLines({ model, view, cursor, top }: TopState, size: TerminalSize, now: number): readonly string[] {
  const height = bodyHeight(model, size);
  if (view === "pods") {
    const pods = model.pods?.pods ?? [];
    return cursor === undefined ? podLines(pods, now) : chosenPodLines(pods, cursor.index, height, now);
  }
  const lines = bodyLines(model, view, size, now);
  if (cursor === undefined) return lines;
  const seen = windowOn(lines, top, height);
  return [...seen.lines, ...positionLines(seen, lines.length)];
}
