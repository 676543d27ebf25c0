/** Draws the label of a lane: its name, and the state of its pod. */
import type { Lane } from "../model/lanes.ts";
import type { PodHealth } from "../model/podTroubles.ts";
import { shownCountdown } from "../model/shownFigures.ts";
import type { Drawing } from "./drawing.ts";
import type { Scene } from "./scene.ts";

const NAME_FONT = "600 12px system-ui, sans-serif";
const NOTE_FONT = "10.5px system-ui, sans-serif";
const LEFT = 26;

/** Cut labels by font, width and text. */
const cuts = new Map<string, string>();
const MAX_CUTS = 4_000;

/** Draws at the middle `y` of the lane. */
export function drawLabel(context: Drawing, scene: Scene, lane: Lane, y: number): void {
  const { palette, geometry, now } = scene;
  const room = geometry.gutter - LEFT - 8;
  const note = scene.noteOf(lane);
  const slash = lane.label.indexOf("/");
  const name = slash < 0 ? lane.label : lane.label.slice(slash + 1);
  context.textAlign = "left";
  context.textBaseline = "middle";
  drawMark(context, scene, note?.health, y);
  context.font = NAME_FONT;
  context.fillStyle = palette.text;
  const below = note === undefined || note.text === "" ? lane.label.slice(0, Math.max(0, slash)) : note.text;
  context.fillText(cutTo(context, name, room, NAME_FONT), LEFT, below === "" ? y : y - 7);
  if (below === "") return;
  context.font = NOTE_FONT;
  context.fillStyle = note?.health === "trouble" ? palette.warning : palette.muted;
  const due = note?.nextAt === undefined ? "" : ` \u00b7 ${shownCountdown(note.nextAt, now)}`;
  context.fillText(`${cutTo(context, below, room - due.length * 6, NOTE_FONT)}${due}`, LEFT, y + 8);
}

/** The state as a shape besides its colour: a dot, a ring, or a square on its corner. */
function drawMark(context: Drawing, { palette }: Scene, health: PodHealth | undefined, y: number): void {
  if (health === undefined) return;
  context.beginPath();
  if (health === "trouble") {
    context.moveTo(14, y - 5.5);
    context.lineTo(19.5, y);
    context.lineTo(14, y + 5.5);
    context.lineTo(8.5, y);
    context.closePath();
  } else context.arc(14, y, 4, 0, Math.PI * 2);
  if (health === "ready" || health === "trouble") {
    context.fillStyle = health === "ready" ? palette.good : palette.warning;
    context.fill();
    return;
  }
  context.lineWidth = 1.5;
  context.strokeStyle = health === "starting" ? palette.accent : palette.muted;
  context.stroke();
}

function cutTo(context: Drawing, text: string, room: number, font: string): string {
  const key = `${font}|${Math.round(room)}|${text}`;
  const known = cuts.get(key);
  if (known !== undefined) return known;
  let cut = text;
  const width = context.measureText(text).width;
  if (width > room) {
    const length = Math.max(1, Math.floor((text.length * room) / width) - 1);
    cut = `${text.slice(0, length)}\u2026`;
  }
  if (cuts.size >= MAX_CUTS) cuts.clear();
  cuts.set(key, cut);
  return cut;
}
