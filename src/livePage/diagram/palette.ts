/** Colours of the diagram, by the names of the page's style. */
import { HUES } from "../model/placeHues.ts";

export interface Palette {
  readonly ground: string;
  readonly gutter: string;
  readonly line: string;
  readonly band: string;
  readonly text: string;
  readonly muted: string;
  readonly accent: string;
  readonly failed: string;
  readonly warning: string;
  readonly good: string;
  /** Colour of the letters in a marble. */
  readonly ink: string;
  /** Colours of marbles. */
  readonly hues: readonly string[];
}

/** Returns the palette of the colours that `colour` gives for the names in the page's style, such as `panel`. */
export const paletteOf = (colour: (name: string) => string): Palette => ({
  ground: colour("panel"),
  gutter: colour("raised"),
  line: colour("lane"),
  band: colour("band"),
  text: colour("text"),
  muted: colour("muted"),
  accent: colour("accent"),
  failed: colour("failed"),
  warning: colour("warning"),
  good: colour("good"),
  ink: colour("ink"),
  hues: Array.from({ length: HUES }, (_, at) => colour(`hue-${at}`)),
});
