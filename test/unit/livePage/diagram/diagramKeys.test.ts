import { describe, expect, it } from "vitest";
import type { LiveMarble } from "../../../../src/core/live/liveMessages.ts";
import { pressKey } from "../../../../src/livePage/diagram/diagramKeys.ts";
import { createMarbles, type Marbles } from "../../../../src/livePage/marbles.ts";

const NOW = 100_000;
const marble = (id: number, pod: string, at: number, cause?: number): LiveMarble => ({
  id,
  at,
  place: id % 2 === 0 ? "registry" : "events",
  pod,
  text: `value ${id}`,
  ...(cause !== undefined && { cause }),
});

/** A diagram with two pods, and a third without marbles between them. */
function diagram(): { readonly marbles: Marbles; readonly press: (...keys: readonly string[]) => readonly boolean[] } {
  const marbles = createMarbles(() => NOW);
  marbles.takePods(["a", "b", "c"].map((uid) => ({ uid, namespace: "ns", name: uid }) as never));
  marbles.add([marble(1, "a", 90_000), marble(2, "c", 91_000, 1), marble(3, "a", 95_000), marble(4, "a", 96_000)], 0);
  const press = (...keys: readonly string[]): readonly boolean[] =>
    keys.map((name) => {
      const [key = "", shift] = name.split("+shift");
      const more = { shiftKey: shift !== undefined, ctrlKey: false, metaKey: false, altKey: false };
      return pressKey({ key, ...more }, marbles, NOW);
    });
  return { marbles, press };
}

const at = ({ cursor }: Marbles): string => `${cursor.value?.lane} ${cursor.value?.id}`;

describe("pressKey", () => {
  it("moves over lanes with marbles, to the marble nearest in time", () => {
    const { marbles, press } = diagram();
    press("ArrowDown");
    expect(at(marbles)).toBe("a 1");
    press("ArrowRight", "ArrowRight", "ArrowDown");
    expect(at(marbles)).toBe("c 2");
    press("ArrowUp");
    expect(at(marbles)).toBe("a 1");
  });
  it("moves over the marbles of a lane, and stops the time", () => {
    const { marbles, press } = diagram();
    press("ArrowRight", "ArrowRight");
    expect(at(marbles)).toBe("a 3");
    expect(marbles.window.value.end).toBe(NOW + 1_200);
    press("End");
    expect(at(marbles)).toBe("a 4");
    press("ArrowRight", "Home");
    expect(at(marbles)).toBe("a 1");
  });
  it("opens and closes, first the marble and then the cursor", () => {
    const { marbles, press } = diagram();
    expect(press("Enter", "Escape")).toEqual([false, false]);
    press("ArrowDown", "Enter");
    expect(marbles.opened.value?.id).toBe(1);
    press("ArrowRight");
    expect(marbles.opened.value?.id).toBe(3);
    press("Escape");
    expect([marbles.opened.value, at(marbles)]).toEqual([undefined, "a 3"]);
    press("Escape");
    expect(marbles.cursor.value).toBeUndefined();
  });
  it("pauses, zooms and moves in time", () => {
    const { marbles, press } = diagram();
    press(" ", "+");
    expect(marbles.window.value).toEqual({ end: NOW + 1_200 - 5_000, spanMs: 20_000 });
    press("-", "ArrowLeft+shift");
    expect(marbles.window.value).toEqual({ end: NOW + 1_200 - 7_500, spanMs: 30_000 });
    press(" ");
    expect(marbles.window.value).toEqual({ end: undefined, spanMs: 30_000 });
  });
  it("leaves other keys, and those with modifiers, to the browser", () => {
    const { marbles, press } = diagram();
    expect(press("Tab", "x", "/")).toEqual([false, false, false]);
    const held = { key: " ", shiftKey: false, ctrlKey: true, metaKey: false, altKey: false };
    expect(pressKey(held, marbles, NOW)).toBe(false);
  });
  it("moves nowhere without marbles", () => {
    const marbles = createMarbles(() => NOW);
    const key = { key: "ArrowDown", shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };
    for (const name of ["ArrowDown", "ArrowUp", "PageDown", "End", "ArrowRight"])
      pressKey({ ...key, key: name }, marbles, NOW);
    expect(marbles.cursor.value).toBeUndefined();
  });
});

describe("createMarbles", () => {
  it("shows one pod by place, and all again", () => {
    const { marbles } = diagram();
    marbles.choose({ pod: "a", kind: "place" });
    expect(marbles.lanes().map(({ label, marbles: { size } }) => `${label}: ${size}`)).toEqual([
      "events: 2",
      "registry: 1",
    ]);
    marbles.choose({ pod: undefined, kind: "pod", filter: "ns/c" });
    expect(marbles.lanes().map(({ label }) => label)).toEqual(["ns/c"]);
  });
  it("fits the window to a marble, its causes and its effects", () => {
    const { marbles } = diagram();
    marbles.fit(marble(2, "c", 91_000, 1));
    const { end = 0, spanMs } = marbles.window.value;
    expect(end).toBeGreaterThan(91_000);
    expect(end - spanMs).toBeLessThan(90_000);
    expect(spanMs).toBeCloseTo(1_450);
  });
  it("forgets the cursor when the time goes on", () => {
    const { marbles, press } = diagram();
    press("ArrowDown", " ");
    expect([marbles.cursor.value, marbles.window.value.end]).toEqual([undefined, undefined]);
  });
});
