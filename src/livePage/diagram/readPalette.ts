/** Reads the colours of the diagram from the page's style, so that they follow the theme. */
import { type Palette, paletteOf } from "./palette.ts";

/** Returns the colours as they apply to `element`. */
export function readPalette(element: HTMLElement): Palette {
  const probe = element.ownerDocument.createElement("span");
  probe.hidden = true;
  element.append(probe);
  const palette = paletteOf((name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return palette;
}
