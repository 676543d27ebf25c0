/**
 * Runs the canvas of the marble diagram: a frame is drawn when time has moved by a pixel or something has changed. One
 * loop of animation frames; a frame that changes nothing costs a comparison.
 */
import type { LiveMarble } from "../../core/live/liveMessages.ts";
import type { Marbles } from "../marbles.ts";
import type { Lane } from "../model/lanes.ts";
import { causesOf, effectTree } from "../model/marbleStore.ts";
import { drawDiagram } from "./drawDiagram.ts";
import type { LaneNote } from "./drawLabel.ts";
import { Frames } from "./frames.ts";
import { AXIS_HEIGHT, clusterMsOf, type Geometry, geometryOf, LANE_HEIGHT } from "./geometry.ts";
import { type Palette, readPalette } from "./palette.ts";
import { createSprites, type Sprites } from "./sprites.ts";

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

/** What the diagram shows besides marbles. */
export interface DiagramFacts {
  now(): number;
  noteOf(lane: Lane): LaneNote | undefined;
}

/** Runs until it is stopped. */
export function runDiagram(elements: DiagramElements, marbles: Marbles, facts: DiagramFacts): RunningDiagram {
  const { host, space, canvas } = elements;
  const context = canvas.getContext("2d", { alpha: false });
  const frames = new Frames();
  // Tests and measurements read it from the element.
  Object.assign(canvas, { frames });
  let palette: Palette | undefined;
  let sprites: Sprites | undefined;
  let shown: readonly unknown[] = [];
  let laneList: readonly Lane[] | undefined;
  let laneIndex: ReadonlyMap<string, number> = new Map();
  let request = 0;

  const geometry = (now = facts.now()): Geometry =>
    geometryOf(
      {
        width: host.clientWidth,
        height: host.clientHeight,
        ratio: Math.min(3, window.devicePixelRatio),
        scrollTop: host.scrollTop,
      },
      marbles.window.peek(),
      now,
    );
  const fit = ({ width, height, ratio }: Geometry): void => {
    const [deviceWidth, deviceHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width === deviceWidth && canvas.height === deviceHeight && sprites !== undefined) return;
    canvas.width = deviceWidth;
    canvas.height = deviceHeight;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    palette = readPalette(host);
    sprites = createSprites(palette, ratio, marbles.hueOf);
  };
  const index = (lanes: readonly Lane[]): void => {
    if (laneList === lanes) return;
    laneList = lanes;
    laneIndex = new Map(lanes.map(({ key }, at) => [key, at]));
    space.style.height = `${AXIS_HEIGHT + lanes.length * LANE_HEIGHT}px`;
  };
  const frame = (at: number): void => {
    request = requestAnimationFrame(frame);
    const now = facts.now();
    const measures = geometry(now);
    const lanes = marbles.lanes();
    const second = Math.floor(now / 250);
    const { start, width, height, scrollTop } = measures;
    const look = [start, width, height, scrollTop, lanes, marbles.store.version, measures.pxPerMs, second];
    const next = [...look, marbles.opened.peek(), marbles.cursor.peek()];
    if (context === null || width === 0 || next.every((value, position) => value === shown[position])) return;
    const before = performance.now();
    fit(measures);
    index(lanes);
    shown = next;
    if (palette === undefined || sprites === undefined) return;
    const chosen = chosenMarble(marbles);
    context.setTransform(measures.ratio, 0, 0, measures.ratio, 0, 0);
    drawDiagram(context, {
      geometry: measures,
      palette,
      sprites,
      lanes,
      now,
      widthMs: clusterMsOf(measures),
      lane: marbles.cursor.peek()?.lane,
      chosen,
      related: relatedTo(marbles, chosen),
      noteOf: facts.noteOf,
      laneOf: (marble) => laneIndex.get((marbles.kind.peek() === "pod" ? marble.pod : marble.place) ?? ""),
    });
    frames.record(at, performance.now() - before);
  };
  request = requestAnimationFrame(frame);
  return {
    geometry: () => geometry(),
    themeChanged() {
      sprites = undefined;
      shown = [];
    },
    stop: () => cancelAnimationFrame(request),
  };
}

const chosenMarble = ({ opened, cursor, store }: Marbles): LiveMarble | undefined =>
  opened.peek() ?? (cursor.peek() === undefined ? undefined : store.find(cursor.peek()?.id ?? 0));

/** The chosen marble with its causes and effects, by id. */
function relatedTo({ store }: Marbles, chosen: LiveMarble | undefined): ReadonlyMap<number, LiveMarble> | undefined {
  if (chosen === undefined) return undefined;
  const all = [chosen, ...causesOf(store, chosen), ...effectTree(store, chosen)];
  return new Map(all.map((marble) => [marble.id, marble]));
}
