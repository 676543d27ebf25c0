/**
 * Runs the canvas of the marble diagram: a frame is drawn when time has moved by a pixel or something has changed. One
 * loop of animation frames; a frame that changes nothing costs a comparison.
 */
import type { LiveMarble } from "../../core/live/liveMessages.ts";
import type { Marbles } from "../marbles.ts";
import type { Lane } from "../model/lanes.ts";
import { drawDiagram } from "./drawDiagram.ts";
import { Frames } from "./frames.ts";
import type { LaneNote } from "../model/laneNote.ts";
import { relatedTo } from "./relatedTo.ts";
import type { Scene } from "./scene.ts";
import { AXIS_HEIGHT, clusterMsOf, type Geometry, geometryOf, LANE_HEIGHT } from "./geometry.ts";
import { readPalette } from "./readPalette.ts";
import { createSprites } from "./sprites.ts";

/** The elements: the scrolled area, the space that all lanes take, and the canvas. */
export interface DiagramElements {
  readonly host: HTMLElement;
  readonly space: HTMLElement;
  readonly canvas: HTMLCanvasElement;
}

export interface RunningDiagram {
  readonly geometry: () => Geometry;
  /** Reads the colours again. */
  themeChanged(): void;
  stop(): void;
}

/** Facts that the diagram shows besides marbles. */
export interface DiagramFacts {
  now(): number;
  noteOf(lane: Lane): LaneNote | undefined;
}

/** Runs until it is stopped. */
export function runDiagram(elements: DiagramElements, marbles: Marbles, facts: DiagramFacts): RunningDiagram {
  const { host, canvas } = elements;
  const context = canvas.getContext("2d", { alpha: false });
  const screen = createScreen(elements, marbles);
  const frames = new Frames();
  // Tests and measurements read it from the element.
  Object.assign(canvas, { frames });
  let shown: readonly unknown[] = [];
  let request = 0;
  const geometry = (now: number): Geometry => {
    const { clientWidth: width, clientHeight: height, scrollTop } = host;
    const ratio = Math.min(MAX_RATIO, window.devicePixelRatio);
    return geometryOf({ width, height, ratio, scrollTop }, marbles.window.peek(), now);
  };
  const frame = (at: number): void => {
    request = requestAnimationFrame(frame);
    const now = facts.now();
    const measures = geometry(now);
    const lanes = marbles.lanes();
    const tick = Math.floor(now / COUNTDOWN_MS);
    const { start, width, height, scrollTop, pxPerMs } = measures;
    const look = [start, width, height, scrollTop, pxPerMs, lanes, marbles.store.version, tick];
    const next = [...look, marbles.opened.peek(), marbles.cursor.peek()];
    if (context === null || width === 0 || next.every((value, position) => value === shown[position])) return;
    const before = performance.now();
    shown = next;
    const { palette, sprites, laneOf } = screen.prepare(context, measures, lanes);
    context.setTransform(measures.ratio, 0, 0, measures.ratio, 0, 0);
    drawDiagram(context, {
      geometry: measures,
      palette,
      sprites,
      lanes,
      now,
      widthMs: clusterMsOf(measures),
      lane: marbles.cursor.peek()?.lane,
      chosen: chosenMarble(marbles),
      related: relatedTo(marbles, marbles.opened.peek()),
      noteOf: facts.noteOf,
      laneOf,
    });
    frames.record(at, performance.now() - before);
  };
  request = requestAnimationFrame(frame);
  return {
    geometry: () => geometry(facts.now()),
    themeChanged() {
      screen.themeChanged();
      shown = [];
    },
    stop: () => cancelAnimationFrame(request),
  };
}

/** Finer screens are drawn at this ratio. */
const MAX_RATIO = 3;
/** Countdowns in labels are drawn again after this time. */
const COUNTDOWN_MS = 250;

interface Screen {
  /** Fits the elements to a frame, and returns what it is drawn with. */
  prepare(
    context: CanvasRenderingContext2D,
    geometry: Geometry,
    lanes: readonly Lane[],
  ): Pick<Scene, "palette" | "sprites" | "laneOf">;
  themeChanged(): void;
}

function createScreen({ host, space, canvas }: DiagramElements, marbles: Marbles): Screen {
  let colours: Pick<Scene, "palette" | "sprites"> | undefined;
  let laneList: readonly Lane[] | undefined;
  let laneIndex: ReadonlyMap<string, number> = new Map();
  const laneOf = (marble: LiveMarble): number | undefined => laneIndex.get(marbles.laneKey(marble));
  const fit = (
    context: CanvasRenderingContext2D,
    { width, height, ratio }: Geometry,
  ): Pick<Scene, "palette" | "sprites"> => {
    const [deviceWidth, deviceHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
    const isFit = canvas.width === deviceWidth && canvas.height === deviceHeight;
    if (isFit && colours !== undefined) return colours;
    canvas.width = deviceWidth;
    canvas.height = deviceHeight;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const palette = readPalette(host);
    return { palette, sprites: createSprites(context, palette, ratio, marbles.hueOf) };
  };
  return {
    prepare(context, geometry, lanes) {
      colours = fit(context, geometry);
      if (laneList !== lanes) {
        laneList = lanes;
        laneIndex = new Map(lanes.map(({ key }, at) => [key, at]));
        space.style.height = `${AXIS_HEIGHT + lanes.length * LANE_HEIGHT}px`;
      }
      return { ...colours, laneOf };
    },
    themeChanged: () => (colours = undefined),
  };
}

const chosenMarble = ({ opened, cursor, store }: Marbles): LiveMarble | undefined =>
  opened.peek() ?? (cursor.peek() === undefined ? undefined : store.find(cursor.peek()?.id ?? 0));
