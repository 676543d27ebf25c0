import { expect, it } from "vitest";
import { layersOf, orderedLayers } from "../../../../src/livePage/model/graphLayers.ts";

const arcs = (text: string) => text.split(" ").map((arc) => ({ from: arc[0] ?? "", to: arc[1] ?? "" }));
const layers = (keys: string, links: string): Readonly<Record<string, number>> =>
  Object.fromEntries(layersOf([...keys], arcs(links)));

it("puts a node after all that lead to it", () => {
  expect(layers("abcd", "ab bc ac cd ad")).toEqual({ a: 0, b: 1, c: 2, d: 3 });
});
it("turns one link of a loop back", () => {
  expect(layers("abc", "ab bc ca")).toEqual({ a: 0, b: 1, c: 2 });
  expect(layers("sabt", "sa ab ba bt")).toEqual({ s: 0, a: 1, b: 2, t: 3 });
});
it("places nodes without links, and those that lead to themselves", () => {
  expect(layers("ab", "aa xy")).toEqual({ a: 0, b: 0 });
});
it("orders layers so that parallel links do not cross", () => {
  const layers = new Map([..."abczyx"].map((key) => [key, "abc".includes(key) ? 0 : 1]));
  const [left = [], right = []] = orderedLayers(layers, arcs("ax by cz"));
  const partner: Readonly<Record<string, string>> = { a: "x", b: "y", c: "z" };
  expect(left.map((key) => partner[key])).toEqual(right);
});
