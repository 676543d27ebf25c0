/** The keyboard of the diagram. */
import type { LiveMarble } from "../../core/live/liveMessages.ts";
import type { Marbles } from "../marbles.ts";
import type { Lane } from "../model/lanes.ts";
import { endOf, moved, zoomed } from "../model/timeWindow.ts";
import { marbleBeside, nearest } from "./marbleAt.ts";

/** Lanes of a page. */
const PAGE = 10;
const ZOOM = 1.5;
/** Share of the window that shift and an arrow move. */
const PAN = 0.25;

/** Explanation of the keys, for the page and for screen readers. */
export const KEYS: readonly (readonly [keys: string, effect: string])[] = [
  ["\u2190 \u2192", "marbles"],
  ["\u2191 \u2193", "lanes"],
  ["Home End", "first, last"],
  ["Enter", "open"],
  ["Esc", "close"],
  ["Space", "pause"],
  ["+ \u2212", "zoom"],
  ["Shift \u2190 \u2192", "move in time"],
  ["/", "filter"],
];

/** A pressed key, as events of browsers have it. */
export interface PressedKey {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** Handles a key of the diagram. Returns whether it is one of its own. */
export function pressKey(event: PressedKey, marbles: Marbles, now: number): boolean {
  const { window } = marbles;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  switch (event.key) {
    case " ":
      marbles.togglePause();
      return true;
    case "+":
    case "=":
      window.value = zoomed(window.peek(), 1 / ZOOM, 0.5);
      return true;
    case "-":
      window.value = zoomed(window.peek(), ZOOM, 0.5);
      return true;
    case "Enter":
      return open(marbles);
    case "Escape":
      return close(marbles);
    case "ArrowLeft":
    case "ArrowRight": {
      const way = event.key === "ArrowLeft" ? -1 : 1;
      if (event.shiftKey) window.value = moved(window.peek(), way * PAN * window.peek().spanMs, now);
      else step(marbles, now, way);
      return true;
    }
    default:
      return moveLane(event.key, marbles, now);
  }
}

function moveLane(key: string, marbles: Marbles, now: number): boolean {
  const lanes = marbles.lanes();
  switch (key) {
    case "ArrowUp":
      toLane(marbles, lanes, -1, now);
      return true;
    case "ArrowDown":
      toLane(marbles, lanes, 1, now);
      return true;
    case "PageUp":
      toLane(marbles, lanes, -PAGE, now);
      return true;
    case "PageDown":
      toLane(marbles, lanes, PAGE, now);
      return true;
    case "Home":
    case "End": {
      const { items, first } = laneOfCursor(marbles, lanes)?.marbles ?? { items: [], first: 0 };
      visit(marbles, key === "Home" ? items[first] : items.at(-1));
      return true;
    }
    default:
      return false;
  }
}

function open(marbles: Marbles): boolean {
  const cursor = marbles.cursor.peek();
  const marble = cursor === undefined ? undefined : marbles.store.find(cursor.id);
  if (marble !== undefined) marbles.opened.value = marble;
  return marble !== undefined;
}

function close({ opened, cursor }: Marbles): boolean {
  if (opened.peek() === undefined && cursor.peek() === undefined) return false;
  if (opened.peek() === undefined) cursor.value = undefined;
  opened.value = undefined;
  return true;
}

const laneOfCursor = ({ cursor }: Marbles, lanes: readonly Lane[]): Lane | undefined =>
  lanes.find(({ key }) => key === cursor.peek()?.lane);

function step(marbles: Marbles, now: number, way: number): void {
  const lanes = marbles.lanes();
  const lane = laneOfCursor(marbles, lanes);
  if (lane === undefined) return toLane(marbles, lanes, 1, now);
  visit(marbles, marbleBeside(lane, marbles.cursor.peek()?.id, middleOf(marbles, now), way));
}

/** Moves to the nearest marble of the next lane that has any, in the direction of `way`. */
function toLane(marbles: Marbles, lanes: readonly Lane[], way: number, now: number): void {
  const cursor = marbles.cursor.peek();
  const from = lanes.findIndex(({ key }) => key === cursor?.lane);
  const at = (cursor === undefined ? undefined : marbles.store.find(cursor.id)?.at) ?? middleOf(marbles, now);
  const direction = Math.sign(way);
  let index = Math.min(lanes.length - 1, Math.max(0, from + way));
  while (lanes[index] !== undefined && lanes[index]?.marbles.size === 0) index += direction;
  const lane = lanes[index];
  if (lane !== undefined) visit(marbles, nearest(lane, at));
}

const middleOf = ({ window }: Marbles, now: number): number => endOf(window.peek(), now) - window.peek().spanMs / 2;

function visit(marbles: Marbles, marble: LiveMarble | undefined): void {
  if (marble === undefined) return;
  marbles.visit(marble);
  if (marbles.opened.peek() !== undefined) marbles.opened.value = marble;
}
