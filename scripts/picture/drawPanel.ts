/** Draws a marble diagram of the page as elements of SVG. */
import type { LiveMarble, LivePod } from "../../src/core/live/liveMessages.ts";
import { drawDiagram } from "../../src/livePage/diagram/drawDiagram.ts";
import { drawMarble } from "../../src/livePage/diagram/drawMarble.ts";
import { AXIS_HEIGHT, clusterMsOf, geometryOf, LANE_HEIGHT } from "../../src/livePage/diagram/geometry.ts";
import { type Palette, paletteOf } from "../../src/livePage/diagram/palette.ts";
import type { Related, Sprites } from "../../src/livePage/diagram/scene.ts";
import type { Marbles } from "../../src/livePage/marbles.ts";
import { laneNote } from "../../src/livePage/model/laneNote.ts";
import { podHealth } from "../../src/livePage/model/podTroubles.ts";
import { createSvgDrawing, define, type SvgDrawing, type SvgNames } from "./svgDrawing.ts";

/** The colours of the page by their names, which become classes. */
export const PALETTE: Palette = paletteOf((name) => name);

/** The contents of a diagram, at `now`. */
export interface Panel {
  readonly width: number;
  readonly marbles: Marbles;
  readonly pods: readonly LivePod[];
  readonly now: number;
  /** The open marble: then only its lane and those of its effects are drawn. */
  readonly opened?: OpenedMarble;
}

/** A marble with its effects, oldest first. */
export interface OpenedMarble {
  readonly marble: LiveMarble;
  readonly effects: readonly LiveMarble[];
}

/** A drawn panel. */
export interface Drawn {
  readonly height: number;
  readonly elements: string;
}

/** Draws all lanes of the panel in the window of its marbles. */
export function drawPanel(names: SvgNames, { width, marbles, pods, now, opened }: Panel): Drawn {
  const related = opened && relatedOf(marbles, opened);
  const lanes = marbles.lanes().filter(({ key }) => related?.byLane.has(key) ?? true);
  const height = AXIS_HEIGHT + lanes.length * LANE_HEIGHT;
  const geometry = geometryOf({ width, height, ratio: 1, scrollTop: 0 }, marbles.window.peek(), now);
  const drawing = createSvgDrawing(names);
  const laneIndex = new Map(lanes.map(({ key }, at) => [key, at]));
  const notes = new Map(pods.map((pod) => [pod.uid, laneNote({ pod, health: podHealth(pod, now) })]));
  drawDiagram(drawing, {
    ...{ geometry, lanes, now, related, palette: PALETTE, chosen: opened?.marble },
    sprites: svgSprites(names, marbles.hueOf, drawing),
    widthMs: clusterMsOf(geometry),
    lane: opened && marbles.laneKey(opened.marble),
    noteOf: ({ key }) => notes.get(key),
    laneOf: (marble) => laneIndex.get(marbles.laneKey(marble)),
  });
  return { height, elements: drawing.elements() };
}

function relatedOf({ laneKey }: Marbles, { marble, effects }: OpenedMarble): Related {
  const all = [marble, ...effects];
  return { byId: new Map(all.map((each) => [each.id, each])), byLane: Map.groupBy(all, laneKey) };
}

/** Makes marbles that are defined once and used in many places. */
export const svgSprites = (names: SvgNames, hueOf: (place: string) => number, target: SvgDrawing): Sprites => ({
  draw(marble, isCluster, x, y) {
    const own = createSvgDrawing(names);
    drawMarble(own, PALETTE, marble, hueOf(marble.place), isCluster);
    target.use(
      define(names, "m", (id) => `<g id="${id}">${own.elements()}</g>`),
      x,
      y,
    );
  },
});
