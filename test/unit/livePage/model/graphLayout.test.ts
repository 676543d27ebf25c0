import { describe, expect, it } from "vitest";
import { type GraphBox, graphLayout } from "../../../../src/livePage/model/graphLayout.ts";
import { graphOf } from "../../../support/liveNode.ts";

const graph = graphOf(0);
const drawing = graphLayout(graph);
const boxOf = (label: string): GraphBox | undefined => drawing.boxes.find((box) => box.label === label);

describe("graphLayout of a kubelet's pipeline", () => {
  it("has each part and each place once", () => {
    const labels = drawing.boxes.filter(({ kind }) => kind === "part").map(({ label }) => label);
    expect([...labels, ...drawing.apart].sort()).toEqual(graph.parts.map(({ name }) => name).sort());
    const places = drawing.boxes.flatMap(({ rows }) => rows.map(({ place }) => place));
    expect(places.sort()).toEqual(graph.places.map(({ name }) => name).sort());
  });
  it("puts cells below their writer and queues above their reader", () => {
    const box = boxOf("podLifecycle");
    const rows = box?.rows ?? [];
    expect(rows.filter(({ kind }) => kind === "queue").map(({ place }) => place)).toEqual([
      "registryInputs",
      "evictions",
    ]);
    expect(rows.every(({ kind, y }) => (kind === "queue" ? y < (box?.labelY ?? 0) : y > (box?.labelY ?? 0)))).toBe(
      true,
    );
  });
  it("has boxes that do not overlap, within its size", () => {
    for (const box of drawing.boxes) {
      expect(box.x + box.width).toBeLessThanOrEqual(drawing.width);
      expect(box.y + box.height).toBeLessThanOrEqual(drawing.height);
      const others = drawing.boxes.filter(
        (other) => other !== box && other.x === box.x && other.y < box.y + box.height && other.y + other.height > box.y,
      );
      expect(others).toEqual([]);
    }
  });
  it("has an arrow for each place that a part reads from another, and each queue that it fills", () => {
    const into = drawing.arrows.filter(({ place, writer }) => place === "events" && writer !== undefined);
    const writers = graph.parts.filter(({ writes }) => writes.includes("events")).map(({ name }) => name);
    expect(into.map(({ writer }) => writer).sort()).toEqual(writers.sort());
    const readers = drawing.arrows.filter(({ place }) => place === "registry").map(({ to }) => to);
    expect(readers).toContain("part pleg");
    expect(drawing.arrows.every(({ from, to }) => from !== to)).toBe(true);
  });
  it("fits a wide screen", () => {
    expect(drawing.width).toBeLessThan(1_600);
  });
});

it("shows places of several parts, or of none, in a box of their own", () => {
  const { boxes } = graphLayout({
    parts: [
      { name: "a", reads: ["q", "lonely"], writes: ["x"] },
      { name: "b", reads: ["q"], writes: ["unknown"] },
    ],
    places: [
      { name: "q", kind: "queue" },
      { name: "x", kind: "cell" },
      { name: "lonely", kind: "cell" },
    ],
  });
  const shared = boxes.find(({ kind }) => kind === "shared");
  expect(shared?.rows.map(({ place }) => place)).toEqual(["q", "lonely"]);
});
it("draws an empty pipeline as nothing", () => {
  expect(graphLayout({ parts: [], places: [] })).toMatchObject({ boxes: [], arrows: [], apart: [] });
});
