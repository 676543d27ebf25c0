/** Draws curves between a marble, its causes and its effects. */
import type { LiveMarble } from "../../core/live/liveMessages.ts";
import type { Drawing } from "./drawing.ts";
import type { Scene } from "./scene.ts";
import { xOf, yOf, RADIUS } from "./geometry.ts";

/** Draws a curve for each related marble whose cause is related too. */
export function drawLinks(context: Drawing, scene: Scene, related: ReadonlyMap<number, LiveMarble>): void {
  context.strokeStyle = scene.palette.accent;
  context.fillStyle = scene.palette.accent;
  context.lineWidth = 1.5;
  for (const marble of related.values()) {
    const cause = marble.cause === undefined ? undefined : related.get(marble.cause);
    if (cause !== undefined) drawLink(context, scene, cause, marble);
  }
}

function drawLink(context: Drawing, scene: Scene, cause: LiveMarble, effect: LiveMarble): void {
  const fromLane = scene.laneOf(cause);
  const toLane = scene.laneOf(effect);
  if (fromLane === undefined || toLane === undefined) return;
  const fromX = xOf(scene.geometry, cause.at);
  const toX = xOf(scene.geometry, effect.at);
  const fromY = yOf(scene.geometry, fromLane);
  const toY = yOf(scene.geometry, toLane);
  context.beginPath();
  if (fromLane === toLane) {
    const height = Math.min(14, Math.max(4, (toX - fromX) / 3));
    // Below the lane: names of steps are above it.
    context.moveTo(fromX, fromY + RADIUS);
    context.quadraticCurveTo((fromX + toX) / 2, fromY + RADIUS + height, toX, toY + RADIUS + 1);
  } else {
    const way = toY > fromY ? 1 : -1;
    const end = toY - way * (RADIUS + 2);
    const bend = Math.max(14, Math.abs(toY - fromY) / 2) * way;
    context.moveTo(fromX, fromY + way * RADIUS);
    context.bezierCurveTo(fromX, fromY + bend, toX, end - bend, toX, end);
    context.stroke();
    context.beginPath();
    context.moveTo(toX - 4, end - way * 5);
    context.lineTo(toX + 4, end - way * 5);
    context.lineTo(toX, end + way);
    context.fill();
    return;
  }
  context.stroke();
}
