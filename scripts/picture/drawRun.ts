/** Draws the recorded run of a node as the page of the live view shows it. Pure: the same run gives the same picture. */
import type { LiveMessage, LivePod } from "../../src/core/live/liveMessages.ts";
import { createMarbles, type Marbles } from "../../src/livePage/marbles.ts";
import { VALUE_FONT } from "../../src/livePage/diagram/scene.ts";
import { effectTree } from "../../src/livePage/model/marbleStore.ts";
import { fitting } from "../../src/livePage/model/timeWindow.ts";
import { compareNames } from "../../src/livePage/model/podTroubles.ts";
import { shownDuration } from "../../src/livePage/model/shownFigures.ts";
import { type Drawn, drawPanel, PALETTE, svgSprites } from "./drawPanel.ts";
import { momentOf, openedMarble } from "./story.ts";
import { svgDocument, type ThemeColour } from "./svgDocument.ts";
import { createSvgDrawing, createSvgNames, define, type SvgDrawing, type SvgNames } from "./svgDrawing.ts";

const WIDTH = 900;
const SPAN_MS = 23_000;
const STRIP = 34;
const STRONG = "600 13px system-ui, sans-serif";
const PLAIN = "12px system-ui, sans-serif";

const DESCRIPTION =
  "Lanes of the node and of four pods over time. Each value that a part of the kubelet writes is a marble in the lane of " +
  "its pod. A container that crashes waits for its next try with a countdown. Below, the status of a pod that has ended is " +
  "open, with curves to its effects in the lanes of other places.";

/** Returns the picture of a run that `isTold` accepts, as an SVG document. */
export function drawRun(messages: readonly LiveMessage[], colours: ReadonlyMap<string, ThemeColour>): string {
  const now = momentOf(messages);
  if (now === undefined) throw new Error("no pod of this run waits after a crash");
  const names = createSvgNames();
  const { marbles, pods } = stateAt(messages, now);
  const { pod, marble } = openedMarble(messages);
  marbles.window.value = { end: undefined, spanMs: SPAN_MS };
  const all = drawPanel(names, { width: WIDTH, marbles, pods, now });
  const effects = effectTree(marbles.store, marble);
  marbles.choose({ kind: "place", pod: pod.uid });
  marbles.window.value = fitting([marble, ...effects].map(({ at, tookMs = 0 }) => [at - tookMs, at]));
  const one = drawPanel(names, { width: WIDTH, marbles, pods, now, opened: { marble, effects } });
  const lasted = Math.max(...effects.map(({ at }) => at)) - marble.at;
  const parts = [
    drawStrip(names, "rxlet", (drawing) => drawLegend(drawing, names, marbles)),
    all,
    drawStrip(names, `${pod.name}: \u201c${marble.text}\u201d, opened`, (drawing) => {
      drawing.textAlign = "right";
      drawing.fillText(`what followed from it within ${shownDuration(lasted)}, place by place`, WIDTH - 12, STRIP / 2);
    }),
    one,
  ];
  const frame = { width: WIDTH, height: heightOf(parts), title: "The live view of rxlet", description: DESCRIPTION };
  return svgDocument(frame, framed(names, parts), names, colours);
}

/** Returns the marbles and pods as a page has them at `now`. */
function stateAt(
  messages: readonly LiveMessage[],
  now: number,
): { readonly marbles: Marbles; readonly pods: readonly LivePod[] } {
  const marbles = createMarbles(() => now);
  let pods: readonly LivePod[] = [];
  for (const message of messages) {
    if (message.kind === "marbles") {
      const past = message.marbles.filter(({ at }) => at <= now);
      marbles.add(past, 0);
    } else if (message.kind === "pods" && message.at <= now) {
      pods = message.pods.toSorted(compareNames);
      marbles.takePods(pods);
    }
  }
  return { marbles, pods };
}

/** Draws a title, and `more` in a plain font. */
function drawStrip(names: SvgNames, title: string, more: (drawing: SvgDrawing) => void): Drawn {
  const drawing = createSvgDrawing(names);
  drawing.fillStyle = PALETTE.gutter;
  drawing.fillRect(0, 0, WIDTH, STRIP);
  drawing.fillStyle = PALETTE.line;
  for (const y of [0, STRIP - 1]) drawing.fillRect(0, y, WIDTH, 1);
  drawing.textBaseline = "middle";
  drawing.font = STRONG;
  drawing.fillStyle = PALETTE.text;
  drawing.fillText(title, 10, STRIP / 2);
  drawing.font = PLAIN;
  drawing.fillStyle = PALETTE.muted;
  more(drawing);
  return { height: STRIP, elements: drawing.elements() };
}

/** Shapes of marbles, and where their names end, from the right. */
const SHAPES = [
  { place: "registry", text: "a value", x: 290 },
  { place: "inspections", text: "several values", x: 202, count: "4" },
  { place: "timelines", outcome: "failed", text: "a failure", x: 82 },
] as const;

/** Explains the marbles at the right of a strip. */
function drawLegend(drawing: SvgDrawing, names: SvgNames, { hueOf }: Marbles): void {
  const sprites = svgSprites(names, hueOf, drawing);
  const middle = STRIP / 2;
  drawing.fillText("live view", 54, middle);
  for (const { text, x, ...shape } of SHAPES) {
    const left = WIDTH - x;
    sprites.draw({ id: 0, at: 0, text, ...shape }, "count" in shape, left, middle);
    drawing.textAlign = "left";
    drawing.font = PLAIN;
    drawing.fillStyle = PALETTE.muted;
    drawing.fillText(text, left + 16, middle);
    if (!("count" in shape)) continue;
    drawing.textAlign = "center";
    drawing.font = VALUE_FONT;
    drawing.fillStyle = PALETTE.ink;
    drawing.fillText(shape.count, left, middle);
  }
}

const heightOf = (parts: readonly Drawn[]): number => parts.reduce((sum, { height }) => sum + height, 0);

/** Sets the parts below each other, in a frame with round corners. */
function framed(names: SvgNames, parts: readonly Drawn[]): string {
  const height = heightOf(parts);
  names.colours.add("s-edge");
  const outline = `x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"`;
  const clip = define(names, "c", (id) => `<clipPath id="${id}"><rect ${outline}/></clipPath>`);
  let y = 0;
  const groups = parts.map((part) => {
    const group = `<g transform="translate(0 ${y})">\n${part.elements}\n</g>`;
    y += part.height;
    return group;
  });
  return [`<g clip-path="url(#${clip})">`, ...groups, "</g>", `<rect ${outline} class="s-edge"/>`].join("\n");
}
