/** Draws the marbles of a lane, their steps as bars, and the values of those that have room for them. */
import type { LiveMarble } from "../../core/live/liveMessages.ts";
import type { Lane } from "../model/lanes.ts";
import { type Cluster, eachCluster } from "../model/marbleClusters.ts";
import type { Drawing } from "./drawing.ts";
import { type Scene, VALUE_FONT } from "./scene.ts";
import { clusterX, LANE_HEIGHT, xOf, RADIUS, SPRITE } from "./geometry.ts";

/** Width of a character of a value. */
const CHARACTER = 6.7;
const LEAST_CHARACTERS = 5;
/** Opacity of marbles that have nothing to do with the chosen one. */
const DIM = 0.22;
/** Radius of the ring around the chosen marble. */
const RING = SPRITE + 1.5;
/** Opacity of steps. */
const STEP = 0.35;

/** Objects of a frame that all lanes share. */
const cluster: Cluster = { marble: { id: 0, at: 0, place: "", text: "" }, count: 0, from: 0, to: 0, begunAt: 0 };
/** The marble before, whose value is drawn as far as the next one. */
let before: LiveMarble | undefined;
let beforeX = 0;
let isBeforeRelated = true;
/** Marbles of the lane that belong to the chosen one; undefined when none is chosen. */
let related: readonly LiveMarble[] | undefined;

/** Returns whether the marble is in the cluster. */
const isIn = ({ from, to }: Cluster, { at }: LiveMarble): boolean => at >= from && at <= to;

/** Draws at the middle `y` of the lane. */
export function drawLane(context: Drawing, scene: Scene, lane: Lane, y: number): void {
  const { geometry, palette, now } = scene;
  const { start, end, width, gutter } = geometry;
  const present = Math.min(width, xOf(geometry, now));
  if (lane.key === scene.lane) {
    context.fillStyle = palette.band;
    context.fillRect(gutter, y - LANE_HEIGHT / 2, width - gutter, LANE_HEIGHT);
  }
  context.fillStyle = palette.line;
  context.fillRect(gutter, y - 0.5, present - gutter, 1);
  context.font = VALUE_FONT;
  context.textBaseline = "middle";
  const place = { lane: lane.key, y };
  const range = { start, end, widthMs: scene.widthMs };
  before = undefined;
  beforeX = gutter;
  related = scene.related === undefined ? undefined : (scene.related.byLane.get(lane.key) ?? []);
  // Steps that overlap must not hide marbles.
  eachCluster(lane.marbles, range, cluster, (found) => drawStep(context, scene, found, y));
  eachCluster(lane.marbles, range, cluster, (found) => drawCluster(context, scene, found, place));
  drawValue(context, scene, present - 6, y);
}

/** Returns whether the cluster has a marble that belongs to the chosen one. */
const belongs = (found: Cluster): boolean => related === undefined || related.some((other) => isIn(found, other));

/** Draws the time that a step took as a bar. */
function drawStep(context: Drawing, scene: Scene, found: Cluster, y: number): void {
  const { palette, geometry, widthMs } = scene;
  const left = Math.max(xOf(geometry, found.begunAt), geometry.gutter);
  const width = clusterX(geometry, found, widthMs) - left;
  if (width <= RADIUS) return;
  context.fillStyle = found.marble.outcome === "failed" ? palette.failed : palette.accent;
  context.globalAlpha = (belongs(found) ? 1 : DIM) * STEP;
  context.fillRect(left, y - 3, width, 6);
  context.globalAlpha = 1;
}

function drawCluster(
  context: Drawing,
  scene: Scene,
  found: Cluster,
  { lane, y }: { readonly lane: string; readonly y: number },
): void {
  const { geometry, palette, sprites, chosen } = scene;
  const { marble, count } = found;
  const x = Math.round(clusterX(geometry, found, scene.widthMs));
  const begun = Math.round(xOf(geometry, found.begunAt));
  drawValue(context, scene, Math.min(x, begun) - RADIUS - 4, y);
  const isRelated = belongs(found);
  context.globalAlpha = isRelated ? 1 : DIM;
  const isNamed = nameStep(context, scene, found, { begun, x, y });
  sprites.draw(marble, count > 1, x, y);
  if (count > 1) {
    context.textAlign = "center";
    context.fillStyle = marble.outcome === "cut off" ? palette.text : palette.ink;
    context.fillText(count > 99 ? "99" : String(count), x, y + 0.5);
  }
  const isChosen = chosen !== undefined && lane === scene.lane && isIn(found, chosen);
  if (isChosen) drawRing(context, palette.accent, x, y);
  before = isNamed ? undefined : marble;
  isBeforeRelated = isRelated;
  beforeX = x + (isChosen ? RING : RADIUS) + 5;
  context.globalAlpha = 1;
}

const cutTo = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}\u2026` : text;

interface Step {
  readonly begun: number;
  readonly x: number;
  readonly y: number;
}

/** Names a step above its bar, if that is long enough and has no other marble. Returns whether it has. */
function nameStep(context: Drawing, scene: Scene, { marble, count }: Cluster, step: Step): boolean {
  const { palette, geometry } = scene;
  const left = Math.max(step.begun, geometry.gutter);
  const room = Math.floor((step.x - left - 2 * RADIUS - 2) / CHARACTER);
  if (count > 1 || left + 2 * RADIUS < beforeX || room < Math.min(marble.text.length, 2 * LEAST_CHARACTERS))
    return false;
  context.textAlign = "left";
  context.fillStyle = marble.outcome === "failed" ? palette.failed : palette.text;
  context.fillText(cutTo(marble.text, room), left + RADIUS + 3, step.y - 9);
  return true;
}

/** Draws the value of the marble before, up to `limit`. */
function drawValue(context: Drawing, { palette }: Scene, limit: number, y: number): void {
  if (before === undefined) return;
  const room = Math.floor((limit - beforeX) / CHARACTER);
  const { text, outcome } = before;
  if (room < LEAST_CHARACTERS) return;
  context.globalAlpha = isBeforeRelated ? 1 : DIM;
  context.textAlign = "left";
  context.fillStyle = outcome === "failed" ? palette.failed : palette.muted;
  const shown = cutTo(text, room);
  // The lane's line does not run through the value.
  const { fillStyle } = context;
  context.fillStyle = palette.ground;
  context.fillRect(beforeX - 2, y - 2, shown.length * CHARACTER + 4, 4);
  context.fillStyle = fillStyle;
  context.fillText(shown, beforeX, y + 0.5);
  context.globalAlpha = 1;
}

function drawRing(context: Drawing, colour: string, x: number, y: number): void {
  context.beginPath();
  context.arc(x, y, RING, 0, Math.PI * 2);
  context.lineWidth = 2;
  context.strokeStyle = colour;
  context.stroke();
}
