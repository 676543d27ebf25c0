/** The pipeline of a node as tables of `rxlet top`: its parts with the throughput of their places, and its sources. Pure. */
import { type LiveFlow, type LivePart, type LiveSourceHealth, MAX_SOURCES } from "../../core/live/liveMessages.ts";
import { counted, shown, shownTable } from "./topText.ts";

const MAX_READS = 40;

/** Returns the table of the parts. */
export function partLines(parts: readonly LivePart[], flow: LiveFlow | undefined): readonly string[] {
  const figures = new Map(flow?.places.map((place) => [place.name, place]));
  const placeText = (name: string): string => {
    const { count = 0, depth, dropped = 0 } = figures.get(name) ?? {};
    const queue = depth === undefined ? "" : ` ${depth} waiting${dropped > 0 ? `, ${dropped} dropped` : ""}`;
    return `${name}${count > 0 ? ` ${count}/s` : ""}${queue}`;
  };
  const rows = parts.map(({ name, reads, writes }) => [
    shown(reads.join(" "), MAX_READS),
    `-> ${name} ->`,
    writes.map(placeText).join(", "),
  ]);
  return shownTable([["READS", "PART", "WRITES"], ...rows]);
}

/** Returns a line for each source that is down. */
export const downLines = (sources: readonly LiveSourceHealth[]): readonly string[] =>
  sources
    .slice(0, MAX_SOURCES)
    .filter(({ isUp }) => !isUp)
    .map(({ name, restarts }) => `! source ${shown(name)} is down, ${counted(restarts, "restart")}`);

/** Returns the table of the sources after an empty line; nothing without sources. */
export function sourceLines(sources: readonly LiveSourceHealth[]): readonly string[] {
  if (sources.length === 0) return [];
  const rows = sources
    .slice(0, MAX_SOURCES)
    .map(({ name, isUp, restarts }) => [name, isUp ? "up" : "down", String(restarts)]);
  return ["", ...shownTable([["SOURCE", "STATE", "RESTARTS"], ...rows])];
}
