/** Draws a marble around the origin. */
import type { LiveMarble } from "../../core/live/liveMessages.ts";
import { placeLetters } from "../model/placeLetters.ts";
import type { Drawing } from "./drawing.ts";
import { RADIUS } from "./geometry.ts";
import type { Palette } from "./palette.ts";

/** Draws the marble of a place in the place's colour, with its letters unless it stands for several. */
export function drawMarble(
  context: Drawing,
  palette: Palette,
  { place, outcome }: Pick<LiveMarble, "place" | "outcome">,
  hue: number,
  isCluster: boolean,
): void {
  const colour = palette.hues[hue] ?? palette.muted;
  if (isCluster) drawStack(context, palette, colour);
  drawBody(context, palette, colour, outcome);
  if (!isCluster) drawLetters(context, palette, placeLetters(place), outcome);
}

/** The edges of marbles behind. */
function drawStack(context: Drawing, palette: Palette, colour: string): void {
  context.strokeStyle = palette.ground;
  context.fillStyle = colour;
  for (const left of [-3, -1.5]) {
    context.beginPath();
    context.arc(left, 0, RADIUS, 0, Math.PI * 2);
    context.fill();
    context.stroke();
  }
}

/** An outcome has a shape besides its colour: failed is a square on its corner, cut off is hollow, a warning has a ring. */
function drawBody(context: Drawing, palette: Palette, colour: string, outcome: LiveMarble["outcome"]): void {
  context.beginPath();
  if (outcome === "failed") {
    const corner = RADIUS + 2;
    context.moveTo(0, -corner);
    context.lineTo(corner, 0);
    context.lineTo(0, corner);
    context.lineTo(-corner, 0);
    context.closePath();
  } else context.arc(0, 0, outcome === "warning" ? RADIUS - 1 : RADIUS, 0, Math.PI * 2);
  context.fillStyle = outcome === "failed" ? palette.failed : outcome === "cut off" ? palette.ground : colour;
  context.fill();
  context.lineWidth = outcome === undefined ? 1 : 2;
  context.strokeStyle = outcome === "warning" ? palette.warning : outcome === "cut off" ? colour : palette.ground;
  if (outcome === "warning") {
    context.beginPath();
    context.arc(0, 0, RADIUS + 1, 0, Math.PI * 2);
  }
  context.stroke();
}

function drawLetters(context: Drawing, palette: Palette, letters: string, outcome: LiveMarble["outcome"]): void {
  context.fillStyle = outcome === "cut off" ? palette.text : palette.ink;
  context.font = `600 ${letters.length > 1 ? 8 : 9.5}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(letters, 0, 0.5);
}
