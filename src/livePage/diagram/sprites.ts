/** Marbles drawn once: a frame copies them. Bound: MAX_SPRITES, then all are drawn anew. */
import type { LiveMarble } from "../../core/live/liveMessages.ts";
import { placeLetters } from "../model/placeLetters.ts";
import { RADIUS, SPRITE } from "./geometry.ts";
import type { Palette } from "./palette.ts";

const MAX_SPRITES = 512;

export interface Sprites {
  /** The marble of a place, with its letters unless it stands for several. */
  of(place: string, outcome: LiveMarble["outcome"], isCluster: boolean): HTMLCanvasElement;
}

/** Makes the sprites of a palette for a screen with `ratio` device pixels per pixel. */
export function createSprites(palette: Palette, ratio: number, hueOf: (place: string) => number): Sprites {
  const made = new Map<string, HTMLCanvasElement>();
  return {
    of(place, outcome, isCluster) {
      const key = `${isCluster ? "n" : "1"}${outcome ?? ""} ${place}`;
      const known = made.get(key);
      if (known !== undefined) return known;
      if (made.size >= MAX_SPRITES) made.clear();
      const canvas = document.createElement("canvas");
      canvas.width = canvas.height = Math.ceil(SPRITE * 2 * ratio);
      const context = canvas.getContext("2d");
      if (context !== null) {
        context.scale(canvas.width / (SPRITE * 2), canvas.height / (SPRITE * 2));
        context.translate(SPRITE, SPRITE);
        const colour = palette.hues[hueOf(place)] ?? palette.muted;
        if (isCluster) drawStack(context, palette, colour);
        drawMarble(context, palette, colour, outcome);
        if (!isCluster) drawLetters(context, palette, placeLetters(place), outcome);
      }
      made.set(key, canvas);
      return canvas;
    },
  };
}

/** The edges of marbles behind. */
function drawStack(context: CanvasRenderingContext2D, palette: Palette, colour: string): void {
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
function drawMarble(
  context: CanvasRenderingContext2D,
  palette: Palette,
  colour: string,
  outcome: LiveMarble["outcome"],
): void {
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

function drawLetters(
  context: CanvasRenderingContext2D,
  palette: Palette,
  letters: string,
  outcome: LiveMarble["outcome"],
): void {
  context.fillStyle = outcome === "cut off" ? palette.text : palette.ink;
  context.font = `600 ${letters.length > 1 ? 8 : 9.5}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(letters, 0, 0.5);
}
