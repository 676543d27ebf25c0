/** Draws a frame of the marble diagram: only the lanes and marbles that are visible. */
import type { Lane } from "../model/lanes.ts";
import { shownTimeOfDay } from "../model/shownFigures.ts";
import { tickStep } from "../model/timeWindow.ts";
import type { Drawing } from "./drawing.ts";
import { drawLane } from "./drawLane.ts";
import { drawLabel } from "./drawLabel.ts";
import { drawLinks } from "./drawLinks.ts";
import { AXIS_HEIGHT, LANE_HEIGHT, visibleLanes, xOf, yOf } from "./geometry.ts";
import { type Scene, VALUE_FONT } from "./scene.ts";

/** Draws the scene on a context that is scaled to CSS pixels. */
export function drawDiagram(context: Drawing, scene: Scene): void {
  const { geometry, palette, lanes } = scene;
  const { width, height, gutter } = geometry;
  const [first, end] = visibleLanes(geometry, lanes.length);
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, width, height);
  drawTicks(context, scene);
  context.save();
  context.beginPath();
  context.rect(gutter, AXIS_HEIGHT, width - gutter, height - AXIS_HEIGHT);
  context.clip();
  for (let at = first; at < end; at += 1) drawLane(context, scene, lanes[at] as Lane, yOf(geometry, at));
  if (scene.related !== undefined) drawLinks(context, scene, scene.related.byId);
  context.restore();
  drawGutter(context, scene, first, end);
  drawAxis(context, scene);
}

function drawTicks(context: Drawing, { geometry, palette, now }: Scene): void {
  const { width, height, gutter, start, end } = geometry;
  const step = tickStep(end - start, width - gutter, 90);
  context.fillStyle = palette.band;
  for (let at = Math.ceil(start / step) * step; at <= end; at += step) {
    context.fillRect(Math.round(xOf(geometry, at)), AXIS_HEIGHT, 1, height);
  }
  const x = Math.round(xOf(geometry, now));
  if (x > width || x < gutter) return;
  // The future is not known yet.
  context.fillStyle = palette.band;
  context.fillRect(x, AXIS_HEIGHT, width - x, height);
  context.fillStyle = palette.accent;
  context.fillRect(x, AXIS_HEIGHT, 1, height);
}

function drawAxis(context: Drawing, { geometry, palette, now }: Scene): void {
  const { width, gutter, start, end } = geometry;
  const step = tickStep(end - start, width - gutter, 90);
  const hasMs = step < 1_000;
  const room = hasMs ? 42 : 28;
  context.fillStyle = palette.gutter;
  context.fillRect(0, 0, width, AXIS_HEIGHT);
  context.font = VALUE_FONT;
  context.textBaseline = "middle";
  context.textAlign = "center";
  context.fillStyle = palette.muted;
  for (let at = Math.ceil(start / step) * step; at <= end; at += step) {
    const x = Math.round(xOf(geometry, at));
    if (x > gutter + room && x < width - room) context.fillText(shownTimeOfDay(at, hasMs), x, AXIS_HEIGHT / 2);
  }
  context.textAlign = "left";
  context.fillText("UTC", 10, AXIS_HEIGHT / 2);
  context.fillStyle = palette.line;
  context.fillRect(0, AXIS_HEIGHT - 1, width, 1);
  const x = xOf(geometry, now);
  if (x > width || x < gutter) return;
  context.fillStyle = palette.accent;
  context.beginPath();
  context.moveTo(x - 4, AXIS_HEIGHT - 7);
  context.lineTo(x + 5, AXIS_HEIGHT - 7);
  context.lineTo(x + 0.5, AXIS_HEIGHT - 1);
  context.fill();
}

function drawGutter(context: Drawing, scene: Scene, first: number, end: number): void {
  const { geometry, palette, lanes } = scene;
  context.fillStyle = palette.gutter;
  context.fillRect(0, AXIS_HEIGHT, geometry.gutter, geometry.height);
  for (let at = first; at < end; at += 1) {
    const lane = lanes[at] as Lane;
    const y = yOf(geometry, at);
    if (lane.key === scene.lane) {
      context.fillStyle = palette.accent;
      context.fillRect(0, y - LANE_HEIGHT / 2 + 3, 3, LANE_HEIGHT - 6);
    }
    drawLabel(context, scene, lane, y);
  }
  context.fillStyle = palette.line;
  context.fillRect(geometry.gutter - 1, AXIS_HEIGHT, 1, geometry.height);
}
