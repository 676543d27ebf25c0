/**
 * Layers of a directed graph with loops, and an order in each layer with few crossings. The order that leaves few links
 * backwards is the greedy one of Eades, Lin and Smyth. Bound: the square of the number of nodes.
 */

interface Arc {
  readonly from: string;
  readonly to: string;
}

/** Sweeps that move nodes towards the middle of their neighbours. */
const SWEEPS = 12;

/** Returns the layer of each node: the longest way to it along links that lead forwards. */
export function layersOf(keys: readonly string[], links: readonly Arc[]): ReadonlyMap<string, number> {
  const order = forwardOrder(keys, links);
  const at = new Map(order.map((key, index) => [key, index]));
  const layers = new Map<string, number>();
  for (const key of order) {
    const before = links.filter(({ from, to }) => to === key && (at.get(from) ?? Infinity) < (at.get(key) ?? 0));
    layers.set(key, Math.max(0, ...before.map(({ from }) => (layers.get(from) ?? 0) + 1)));
  }
  return layers;
}

/** Orders nodes so that few links lead backwards. */
function forwardOrder(keys: readonly string[], links: readonly Arc[]): readonly string[] {
  const left = new Set(keys);
  const first: string[] = [];
  const last: string[] = [];
  const degree = (key: string, end: "from" | "to"): number =>
    links.filter((link) => link[end] === key && link.from !== link.to && left.has(link.from) && left.has(link.to))
      .length;
  const take = (key: string, into: string[]): void => {
    left.delete(key);
    into.push(key);
  };
  while (left.size > 0) {
    const sink = [...left].find((key) => degree(key, "from") === 0);
    const source = [...left].find((key) => degree(key, "to") === 0);
    if (sink !== undefined) take(sink, last);
    else if (source !== undefined) take(source, first);
    else {
      const excess = (key: string): number => degree(key, "from") - degree(key, "to");
      take(
        [...left].reduce((best, key) => (excess(key) > excess(best) ? key : best)),
        first,
      );
    }
  }
  return [...first, ...last.reverse()];
}

/** Returns the keys of each layer, each near the average place of its neighbours. */
export function orderedLayers(
  layers: ReadonlyMap<string, number>,
  links: readonly Arc[],
): readonly (readonly string[])[] {
  const columns: string[][] = [];
  for (const [key, layer] of layers) (columns[layer] ??= []).push(key);
  const filled = columns.filter((column) => column !== undefined);
  const neighbours = new Map<string, string[]>();
  for (const { from, to } of links) {
    neighbours.set(from, [...(neighbours.get(from) ?? []), to]);
    neighbours.set(to, [...(neighbours.get(to) ?? []), from]);
  }
  const places = new Map<string, number>();
  const note = (column: readonly string[]): void =>
    column.forEach((key, at) => places.set(key, (at + 0.5) / column.length));
  filled.forEach(note);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const column of sweep % 2 === 0 ? filled : filled.toReversed()) {
      const middles = new Map(column.map((key) => [key, middleOf(neighbours.get(key) ?? [], places, key)]));
      column.sort((a, b) => (middles.get(a) ?? 0) - (middles.get(b) ?? 0));
      note(column);
    }
  }
  return filled;
}

function middleOf(keys: readonly string[], places: ReadonlyMap<string, number>, own: string): number {
  const known = keys.map((key) => places.get(key)).filter((place) => place !== undefined);
  return known.length === 0 ? (places.get(own) ?? 0) : known.reduce((sum, place) => sum + place, 0) / known.length;
}
