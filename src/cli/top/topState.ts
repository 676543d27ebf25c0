/**
 * The state of `rxlet top`: what it knows of the node, and what its user looks at. Pure: each function returns the state
 * after one event.
 *
 *     pods view --Enter--> timeline of a pod <--l--> log of its first container
 *         ^-------Esc, Backspace----'--------------------'
 */
import type { LivePod } from "../../core/live/liveMessages.ts";
import type { TerminalSize } from "../drawBlock.ts";
import { bodyHeight, bodyLines, TOP_VIEWS, type TopView } from "./topBody.ts";
import { type OpenPod, openPod, type PodPage, scrolled, switched } from "./topPod.ts";
import { EMPTY_MODEL, type TopModel } from "./topModel.ts";
import { shown } from "./topText.ts";
import { windowOn } from "./topWindow.ts";

export interface TopState {
  readonly model: TopModel;
  readonly view: TopView;
  /** The pod under the cursor; undefined where there is no keyboard. */
  readonly cursor: PodCursor | undefined;
  /** First line on the screen of a view that is longer than the screen. */
  readonly top: number;
  /** The pod that is shown instead of the view. */
  readonly pod: OpenPod | undefined;
  /** The user has ended the command. */
  readonly isOver: boolean;
}

/** The cursor stays on its pod while others come and go; when the pod goes, it stays where it is. */
export interface PodCursor {
  readonly index: number;
  readonly uid: string | undefined;
}

/** Starts with a view of a node that is not known yet. */
export const beginTop = (view: TopView, hasKeyboard: boolean): TopState => ({
  ...{ model: EMPTY_MODEL, view, top: 0, pod: undefined, isOver: false },
  cursor: hasKeyboard ? { index: 0, uid: undefined } : undefined,
});

const podsOf = ({ model }: TopState): readonly LivePod[] => model.pods?.pods ?? [];

/** Returns the state with what is known of the node now. */
export function afterModel(state: TopState, model: TopModel): TopState {
  const { cursor } = state;
  if (cursor === undefined || model.pods === state.model.pods) return { ...state, model };
  const pods = model.pods?.pods ?? [];
  const found = cursor.uid === undefined ? -1 : pods.findIndex(({ uid }) => uid === cursor.uid);
  return { ...state, model, cursor: cursorAt(pods, found < 0 ? cursor.index : found) };
}

function cursorAt(pods: readonly LivePod[], index: number): PodCursor {
  const at = Math.max(0, Math.min(index, pods.length - 1));
  return { index: at, uid: pods[at]?.uid };
}

/** Keys that move by rows or pages; both hands of `less` and `vi`. */
const STEPS: ReadonlyMap<string, number> = new Map([
  ["up", -1],
  ["k", -1],
  ["down", 1],
  ["j", 1],
]);
const PAGES: ReadonlyMap<string, number> = new Map([
  ["pageup", -1],
  ["pagedown", 1],
]);
const ENDS: ReadonlyMap<string, number> = new Map([
  ["home", -Infinity],
  ["end", Infinity],
]);
/** Rows of a page that stay in sight. */
const HEAD_ROWS = 3;

/** Returns the rows by which a key moves; undefined for another key. */
function rowsOf(key: string, { rows }: TerminalSize): number | undefined {
  const pages = PAGES.get(key);
  if (pages !== undefined) return pages * Math.max(1, rows - 1 - 2 * HEAD_ROWS);
  return STEPS.get(key) ?? ENDS.get(key);
}

/** Returns the state after a key, on a screen of this size. */
export function afterKey(state: TopState, key: string, size: TerminalSize): TopState {
  if (key === "q" || key === "ctrl-c") return { ...state, isOver: true };
  const view = viewAfter(state.view, key);
  if (view !== undefined) return { ...state, view, top: 0, pod: undefined };
  if (state.pod !== undefined) return { ...state, pod: podAfter(state.pod, key, size) };
  if (state.view === "pods") return inPods(state, key, size);
  const rows = rowsOf(key, size);
  if (rows === undefined) return state;
  const { last, first } = windowOn(
    bodyLines(state.model, state.view, size, 0),
    state.top,
    bodyHeight(state.model, size),
  );
  return { ...state, top: Math.max(0, Math.min(last, first + rows)) };
}

function viewAfter(view: TopView, key: string): TopView | undefined {
  if (key === "tab") return TOP_VIEWS[(TOP_VIEWS.indexOf(view) + 1) % TOP_VIEWS.length];
  return TOP_VIEWS[Number(key) - 1];
}

function inPods(state: TopState, key: string, size: TerminalSize): TopState {
  const pods = podsOf(state);
  const { index } = state.cursor ?? cursorAt(pods, 0);
  const pod = pods[index];
  if (key === "return" && pod !== undefined) return { ...state, pod: openPod(pod) };
  const rows = rowsOf(key, size);
  return rows === undefined ? state : { ...state, cursor: cursorAt(pods, index + rows) };
}

function podAfter(pod: OpenPod, key: string, size: TerminalSize): OpenPod | undefined {
  if (key === "escape" || key === "backspace") return undefined;
  if (key === "l") return switched(pod);
  if (key === "r") return pod.retry.isAsked ? pod : { ...pod, retry: { isAsked: true, said: "trying again" } };
  const rows = rowsOf(key, size);
  return rows === undefined ? pod : scrolled(pod, rows, size);
}

/** Returns the state after an answer about a page of a pod; nothing changes when another page is open by now. */
export function afterPage(state: TopState, of: PodPage, answer: PageAnswer): TopState {
  const { pod } = state;
  if (pod === undefined || pod.page !== of) return state;
  if (typeof answer === "string") return { ...state, pod: { ...pod, problem: shown(answer) } };
  return { ...state, pod: { ...pod, problem: undefined, lines: answer } };
}

/** The lines of a page, or why there are none. */
export type PageAnswer = readonly string[] | string;

/** Returns the state after the answer to a request to try a pod again. */
export function afterRetry(state: TopState, { uid }: OpenPod, said: string): TopState {
  const { pod } = state;
  if (pod === undefined || pod.uid !== uid) return state;
  return { ...state, pod: { ...pod, retry: { isAsked: false, said: shown(said) } } };
}
