/** Colours of the canvas, read from the page's style so that they follow the theme. */
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

/** Reads the colours as they apply to `element`. */
export function readPalette(element: HTMLElement): Palette {
  const probe = element.ownerDocument.createElement("span");
  probe.hidden = true;
  element.append(probe);
  const colour = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const palette = {
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
  };
  probe.remove();
  return palette;
}
