/**
 * Draws what the marble diagram draws, as elements of SVG. Colours are names, which become classes: the style of the
 * document gives each its colour in both themes.
 */
import type { Drawing } from "../../src/livePage/diagram/drawing.ts";

/** Names that the elements of a document refer to: its style and its definitions have to have them. */
export interface SvgNames {
  /** Classes of colours, such as `f-text` and `s-text`. */
  readonly colours: Set<string>;
  /** Classes by fonts. */
  readonly fonts: Map<string, string>;
  /** Definitions by identifiers. */
  readonly definitions: Map<string, string>;
}

export interface SvgDrawing extends Drawing {
  /** Draws a definition with its origin at a point. */
  use(id: string, x: number, y: number): void;
  /** The elements that have been drawn. */
  elements(): string;
}

export const createSvgNames = (): SvgNames => ({ colours: new Set(), fonts: new Map(), definitions: new Map() });

/** Ems from the alphabetic baseline up to the middle of a line. */
const MIDDLE = 0.35;
/** Widths of characters in ems. */
const MONO = 0.602;
const PROPORTIONAL = 0.56;

/** Starts an empty drawing. It throws a TypeError for what the diagram does not use. */
export function createSvgDrawing(names: SvgNames): SvgDrawing {
  const elements: string[] = [];
  const look = { fillStyle: "text", strokeStyle: "text", lineWidth: 1, globalAlpha: 1, font: "10px sans-serif" };
  let path = "";
  /** Number of open groups for each save. */
  const saved: { readonly look: typeof look; groups: number }[] = [];
  const fill = (): string => ` class="${colourClass(names, "f", drawing.fillStyle)}"${opacity(drawing.globalAlpha)}`;
  const drawing: SvgDrawing = {
    ...(look as Pick<Drawing, keyof typeof look>),
    textAlign: "start",
    textBaseline: "alphabetic",
    elements: () => elements.join("\n"),
    use(id, x, y) {
      elements.push(`<use href="#${id}" x="${round(x)}" y="${round(y)}"${opacity(drawing.globalAlpha)}/>`);
    },
    save() {
      const { fillStyle, strokeStyle, lineWidth, globalAlpha, font } = drawing;
      saved.push({
        look: { fillStyle: `${fillStyle}`, strokeStyle: `${strokeStyle}`, lineWidth, globalAlpha, font },
        groups: 0,
      });
    },
    restore() {
      const last = saved.pop();
      if (last === undefined) throw new TypeError("nothing is saved");
      elements.push(...new Array<string>(last.groups).fill("</g>"));
      Object.assign(drawing, last.look);
    },
    beginPath: () => void (path = ""),
    closePath: () => void (path += "Z"),
    moveTo: (x, y) => void (path += `M${round(x)} ${round(y)}`),
    lineTo: (x, y) => void (path += `L${round(x)} ${round(y)}`),
    arc(x, y, radius, from, to) {
      if (to - from !== Math.PI * 2) throw new TypeError("an arc is no circle");
      const half = `a${round(radius)} ${round(radius)} 0 1 0`;
      path += `M${round(x - radius)} ${round(y)}${half} ${round(2 * radius)} 0${half} ${round(-2 * radius)} 0Z`;
    },
    quadraticCurveTo: (...points) => void (path += `Q${points.map(round).join(" ")}`),
    bezierCurveTo: (...points) => void (path += `C${points.map(round).join(" ")}`),
    rect(x, y, width, height) {
      path += `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}Z`;
    },
    clip() {
      const last = saved.at(-1);
      if (last === undefined) throw new TypeError("a clip that nothing ends");
      const id = define(names, "clip", (own) => `<clipPath id="${own}"><path d="${path}"/></clipPath>`);
      elements.push(`<g clip-path="url(#${id})">`);
      last.groups += 1;
    },
    fill: () => void elements.push(`<path d="${path}"${fill()}/>`),
    stroke() {
      const colour = colourClass(names, "s", drawing.strokeStyle);
      const width = drawing.lineWidth === 1 ? "" : ` stroke-width="${round(drawing.lineWidth)}"`;
      elements.push(`<path d="${path}" class="${colour}"${width}${opacity(drawing.globalAlpha)}/>`);
    },
    fillRect(x, y, width, height) {
      const place = `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"`;
      elements.push(`<rect ${place}${fill()}/>`);
    },
    fillText(text, x, y) {
      const own = `${fontClass(names, drawing.font)} ${colourClass(names, "f", drawing.fillStyle)}`;
      const anchor = { left: "", start: "", center: "middle", right: "end", end: "end" }[drawing.textAlign];
      const base = drawing.textBaseline === "middle" ? y + sizeOf(drawing.font) * MIDDLE : y;
      const place = `x="${round(x)}" y="${round(base)}"${anchor === "" ? "" : ` text-anchor="${anchor}"`}`;
      elements.push(`<text ${place} class="${own}"${opacity(drawing.globalAlpha)}>${escapedText(text)}</text>`);
    },
    measureText: (text) => ({
      width: text.length * sizeOf(drawing.font) * (drawing.font.includes("monospace") ? MONO : PROPORTIONAL),
    }),
  };
  return drawing;
}

/** Adds a definition unless there is an equal one, and returns its identifier. */
export function define({ definitions }: SvgNames, kind: string, markupOf: (id: string) => string): string {
  for (const [id, markup] of definitions) if (markup === markupOf(id)) return id;
  const id = `${kind}${definitions.size}`;
  definitions.set(id, markupOf(id));
  return id;
}

const CONTROLS = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Returns the text as character data or as an attribute's value; U+FFFD for characters that XML does not have. */
export const escapedText = (text: string): string =>
  text
    .toWellFormed()
    .replace(CONTROLS, "\ufffd")
    .replace(/[&<>"]/g, (each) => ESCAPES[each] ?? "");

const round = (value: number): number => Math.round(value * 10) / 10 + 0;

const opacity = (alpha: number): string => (alpha === 1 ? "" : ` opacity="${alpha}"`);

function colourClass({ colours }: SvgNames, kind: "f" | "s", name: string | object): string {
  const own = `${kind}-${name}`;
  if (!/^[fs]-[a-z0-9-]+$/.test(own)) throw new TypeError(`no name of a colour: ${name}`);
  colours.add(own);
  return own;
}

function fontClass({ fonts }: SvgNames, font: string): string {
  const known = fonts.get(font) ?? `t${fonts.size}`;
  fonts.set(font, known);
  return known;
}

function sizeOf(font: string): number {
  const size = /([\d.]+)px/.exec(font)?.[1];
  if (size === undefined) throw new TypeError(`a font without a size: ${font}`);
  return Number(size);
}
