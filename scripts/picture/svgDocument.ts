/** Makes a document of drawn elements, with the colours of the page in both themes. */
import { escapedText, type SvgNames } from "./svgDrawing.ts";

/** A colour in the light and in the dark theme. */
export type ThemeColour = readonly [light: string, dark: string];

/** Reads the colours of a style sheet that has them as `--name: light-dark(#light, #dark);`. */
export const themeColours = (css: string): ReadonlyMap<string, ThemeColour> =>
  new Map(
    [...css.matchAll(/--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)].map(
      ([, name = "", light = "", dark = ""]) => [name, [light, dark]] as const,
    ),
  );

/** The document's size in units of its elements, and its texts for those who do not see it. */
export interface SvgFrame {
  readonly width: number;
  readonly height: number;
  readonly title: string;
  readonly description: string;
}

/** Returns the document. Throws a TypeError for an element whose colour is unknown. */
export function svgDocument(
  { width, height, title, description }: SvgFrame,
  elements: string,
  names: SvgNames,
  colours: ReadonlyMap<string, ThemeColour>,
): string {
  const rules = (theme: 0 | 1): readonly string[] =>
    [...names.colours].sort().map((own) => {
      const colour = colours.get(own.slice("f-".length));
      if (colour === undefined) throw new TypeError(`no colour: ${own}`);
      return own.startsWith("f") ? `.${own}{fill:${colour[theme]}}` : `.${own}{fill:none;stroke:${colour[theme]}}`;
    });
  const fonts = [...names.fonts].map(([font, own]) => `.${own}{font:${genericFont(font)}}`);
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ${shownSize(width, height)} role="img">`,
    `<title>${escapedText(title)}</title>`,
    `<desc>${escapedText(description)}</desc>`,
    "<style>",
    ...[...fonts, ...rules(0)],
    "@media (prefers-color-scheme:dark){",
    ...rules(1),
    "}",
    "</style>",
    "<defs>",
    ...names.definitions.values(),
    "</defs>",
    elements,
    "</svg>",
  ].join("\n")}\n`;
}

/** Width of the shown picture in pixels. */
const SHOWN_WIDTH = 1_000;

const shownSize = (width: number, height: number): string =>
  `width="${SHOWN_WIDTH}" height="${Math.round((height * SHOWN_WIDTH) / width)}"`;

/** Generic families, which every machine has. */
const GENERIC = /^(?:system-ui|ui-monospace|monospace|sans-serif)$/;

/** Leaves the named families of a font out. */
function genericFont(font: string): string {
  const [, style = "", families = ""] = /^(.*?px) (.*)$/.exec(font) ?? [];
  const generic = families
    .split(",")
    .map((family) => family.trim())
    .filter((family) => GENERIC.test(family));
  return `${style} ${generic.join(",")}`;
}
