/** Marbles drawn once: a frame copies them. Bound: MAX_SPRITES, then all are drawn anew. */
import type { LiveMarble } from "../../core/live/liveMessages.ts";
import { drawMarble } from "./drawMarble.ts";
import { SPRITE } from "./geometry.ts";
import type { Palette } from "./palette.ts";
import type { Sprites } from "./scene.ts";

const MAX_SPRITES = 512;

/** Makes the sprites of a palette for a canvas with `ratio` device pixels per pixel. */
export function createSprites(
  target: CanvasRenderingContext2D,
  palette: Palette,
  ratio: number,
  hueOf: (place: string) => number,
): Sprites {
  const made = new Map<string, HTMLCanvasElement>();
  const spriteOf = (marble: LiveMarble, isCluster: boolean): HTMLCanvasElement => {
    const key = `${isCluster ? "n" : "1"}${marble.outcome ?? ""} ${marble.place}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    if (made.size >= MAX_SPRITES) made.clear();
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = Math.ceil(SPRITE * 2 * ratio);
    const context = canvas.getContext("2d");
    if (context !== null) {
      context.scale(canvas.width / (SPRITE * 2), canvas.height / (SPRITE * 2));
      context.translate(SPRITE, SPRITE);
      drawMarble(context, palette, marble, hueOf(marble.place), isCluster);
    }
    made.set(key, canvas);
    return canvas;
  };
  return {
    draw(marble, isCluster, x, y) {
      target.drawImage(spriteOf(marble, isCluster), x - SPRITE, y - SPRITE, SPRITE * 2, SPRITE * 2);
    },
  };
}
