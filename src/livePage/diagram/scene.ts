/** The contents of a frame of the marble diagram. */
import type { LiveMarble } from "../../core/live/liveMessages.ts";
import type { Lane } from "../model/lanes.ts";
import type { LaneNote } from "../model/laneNote.ts";
import type { Geometry } from "./geometry.ts";
import type { Palette } from "./palette.ts";

/** Draws marbles, each with its middle at a point; one that stands for several has no letters. */
export interface Sprites {
  draw(marble: LiveMarble, isCluster: boolean, x: number, y: number): void;
}

/** Marbles that belong to the chosen one. */
export interface Related {
  readonly byId: ReadonlyMap<number, LiveMarble>;
  /** By the keys of lanes. */
  readonly byLane: ReadonlyMap<string, readonly LiveMarble[]>;
}

/** All that a frame shows. */
export interface Scene {
  readonly geometry: Geometry;
  readonly palette: Palette;
  readonly sprites: Sprites;
  readonly lanes: readonly Lane[];
  readonly now: number;
  /** Width of a cluster. */
  readonly widthMs: number;
  /** Key of the lane under the cursor. */
  readonly lane: string | undefined;
  /** The marble under the cursor or open. */
  readonly chosen: LiveMarble | undefined;
  /** The chosen marble, its causes and its effects; undefined: all marbles are drawn alike. */
  readonly related: Related | undefined;
  noteOf(lane: Lane): LaneNote | undefined;
  laneOf(marble: LiveMarble): number | undefined;
}

export const VALUE_FONT = "11px ui-monospace, 'DejaVu Sans Mono', monospace";
