/**
 * Layout of the pipeline, derived from its parts and places. A part is a box: above its name the queues that it alone
 * takes values from, below it the cells that it writes. Values go from left to right, except those that close a loop.
 */
import type { LiveGraph } from "../../core/live/liveMessages.ts";
import { layersOf, orderedLayers } from "./graphLayers.ts";

/** A place in a box, at the middle of its row. */
export interface GraphRow {
  readonly place: string;
  readonly kind: "cell" | "queue";
  readonly y: number;
}

export interface GraphBox {
  readonly key: string;
  readonly kind: "part" | "shared";
  readonly label: string;
  readonly labelY: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly rows: readonly GraphRow[];
}

/** A cell that a part reads, or a queue that a part writes to. */
export interface GraphArrow {
  readonly key: string;
  readonly place: string;
  /** Keys of boxes. */
  readonly from: string;
  readonly to: string;
  /** An SVG path. */
  readonly path: string;
  /** The part that writes, if the arrow leads into a queue. */
  readonly writer?: string;
}

export interface GraphDrawing {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly GraphBox[];
  readonly arrows: readonly GraphArrow[];
  /** Parts without a place. */
  readonly apart: readonly string[];
}

const BOX_WIDTH = 168;
const ROW_HEIGHT = 18;
const LABEL_HEIGHT = 22;
const PADDING = 3;
const GAP_X = 64;
const GAP_Y = 12;
const MARGIN = 14;
/** Box of places that belong to no single part. */
const SHARED = "shared";

interface Node {
  readonly key: string;
  readonly label: string;
  readonly queues: readonly string[];
  readonly cells: readonly string[];
}
interface Link {
  readonly place: string;
  readonly from: string;
  readonly to: string;
  readonly writer?: string;
}

/** Lays the pipeline out. The result depends on the lists alone. */
export function graphLayout({ parts, places }: Pick<LiveGraph, "parts" | "places">): GraphDrawing {
  const { nodes, links } = nodesAndLinks(parts, places);
  const linked = new Set(links.flatMap(({ from, to }) => [from, to]));
  const drawn = nodes.filter(({ key, cells, queues }) => linked.has(key) || cells.length + queues.length > 0);
  const byKey = new Map(drawn.map((node) => [node.key, node]));
  const layers = layersOf([...byKey.keys()], links);
  const columns = orderedLayers(layers, links).map((keys) => keys.map((key) => byKey.get(key) as Node));
  const heights = columns.map((column) => column.reduce((sum, node) => sum + heightOf(node) + GAP_Y, -GAP_Y));
  const height = Math.max(0, ...heights);
  const boxes = columns.flatMap((column, at) =>
    column.reduce<readonly GraphBox[]>((done, node) => {
      const last = done.at(-1);
      const y = last === undefined ? MARGIN + (height - (heights[at] ?? 0)) / 2 : last.y + last.height + GAP_Y;
      return [...done, boxAt(node, MARGIN + at * (BOX_WIDTH + GAP_X), Math.round(y))];
    }, []),
  );
  return {
    width: 2 * MARGIN + columns.length * (BOX_WIDTH + GAP_X) - GAP_X,
    height: height + 2 * MARGIN,
    boxes,
    arrows: arrowsOf(new Map(boxes.map((box) => [box.key, box])), links),
    apart: nodes.filter((node) => node.key !== SHARED && !drawn.includes(node)).map(({ label }) => label),
  };
}

function nodesAndLinks(
  parts: LiveGraph["parts"],
  places: LiveGraph["places"],
): { readonly nodes: readonly Node[]; readonly links: readonly Link[] } {
  const owners = ownersOf(parts, places);
  const of = (key: string, kind: "cell" | "queue"): readonly string[] =>
    places.filter((place) => place.kind === kind && owners.get(place.name) === key).map(({ name }) => name);
  const node = (key: string, label: string): Node => ({
    key,
    label,
    queues: of(key, "queue"),
    cells: of(key, "cell"),
  });
  const kinds = new Map(places.map(({ name, kind }) => [name, kind]));
  const links = parts.flatMap(({ name, reads, writes }): readonly Link[] => {
    const own = `part ${name}`;
    const into = writes.filter((place) => kinds.get(place) === "queue");
    return [
      ...into.map((place) => ({ place, from: own, to: owners.get(place) ?? SHARED, writer: name })),
      ...reads
        .filter((place) => kinds.has(place))
        .map((place) => ({ place, from: owners.get(place) ?? SHARED, to: own })),
    ];
  });
  return {
    nodes: [...parts.map(({ name }) => node(`part ${name}`, name)), node(SHARED, "shared")],
    links: links.filter(({ from, to }) => from !== to),
  };
}

/** A cell belongs to the part that writes it, a queue to the part that reads it, if there is one such part alone. */
function ownersOf(parts: LiveGraph["parts"], places: LiveGraph["places"]): ReadonlyMap<string, string> {
  return new Map(
    places.map(({ name, kind }) => {
      const users = parts.filter(({ reads, writes }) => (kind === "cell" ? writes : reads).includes(name));
      return [name, users.length === 1 && users[0] !== undefined ? `part ${users[0].name}` : SHARED];
    }),
  );
}

const heightOf = ({ queues, cells }: Node): number =>
  2 * PADDING + LABEL_HEIGHT + (queues.length + cells.length) * ROW_HEIGHT;

function boxAt(node: Node, x: number, y: number): GraphBox {
  const { key, label, queues, cells } = node;
  const labelY = y + PADDING + queues.length * ROW_HEIGHT + LABEL_HEIGHT / 2;
  const firstCell = labelY + LABEL_HEIGHT / 2;
  return {
    key,
    kind: key === SHARED ? "shared" : "part",
    label,
    labelY,
    x,
    y,
    width: BOX_WIDTH,
    height: heightOf(node),
    rows: [
      ...queues.map((place, at) => ({ place, kind: "queue" as const, y: y + PADDING + (at + 0.5) * ROW_HEIGHT })),
      ...cells.map((place, at) => ({ place, kind: "cell" as const, y: firstCell + (at + 0.5) * ROW_HEIGHT })),
    ],
  };
}

function arrowsOf(boxes: ReadonlyMap<string, GraphBox>, links: readonly Link[]): readonly GraphArrow[] {
  return links.flatMap(({ place, from, to, writer }): readonly GraphArrow[] => {
    const source = boxes.get(from);
    const target = boxes.get(to);
    if (source === undefined || target === undefined) return [];
    const startX = source.x + source.width;
    const startY = source.rows.find((row) => row.place === place)?.y ?? source.labelY;
    const endX = target.x;
    const endY = target.rows.find((row) => row.place === place)?.y ?? target.labelY;
    // An arrow that closes a loop leaves to the right and comes from the left, in a wide bend.
    const bend = endX <= startX ? GAP_X * 0.8 : Math.max(28, (endX - startX) / 2);
    const path = `M${startX} ${startY}C${startX + bend} ${startY} ${endX - bend} ${endY} ${endX} ${endY}`;
    return [{ key: `${from} > ${to}: ${place}`, place, from, to, path, ...(writer && { writer }) }];
  });
}
