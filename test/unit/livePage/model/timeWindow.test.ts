import { describe, expect, it } from "vitest";
import {
  endOf,
  FIRST_WINDOW,
  fitting,
  isPaused,
  MAX_SPAN_MS,
  MIN_SPAN_MS,
  moved,
  paused,
  resumed,
  revealing,
  tickStep,
  zoomed,
} from "../../../../src/livePage/model/timeWindow.ts";

const NOW = 1_000_000;

describe("a window of time", () => {
  it("follows the present with room to its right", () => {
    expect(endOf(FIRST_WINDOW, NOW)).toBe(NOW + 1_200);
  });
  it("stands still while it is paused, and follows again", () => {
    const still = paused(FIRST_WINDOW, NOW);
    expect([isPaused(still), endOf(still, NOW + 9_000)]).toEqual([true, NOW + 1_200]);
    expect(resumed(still)).toEqual(FIRST_WINDOW);
  });
  it("keeps the instant under the anchor when a paused one is zoomed", () => {
    const still = { end: NOW, spanMs: 10_000 };
    const near = zoomed(still, 0.5, 0.25);
    const instantAt = ({ end, spanMs }: { end: number | undefined; spanMs: number }): number =>
      (end ?? 0) - spanMs * 0.75;
    expect(near.spanMs).toBe(5_000);
    expect(instantAt(near)).toBe(instantAt(still));
  });
  it("is never shorter or longer than its bounds", () => {
    expect(zoomed(FIRST_WINDOW, 1e-9, 0.5).spanMs).toBe(MIN_SPAN_MS);
    expect(zoomed(FIRST_WINDOW, 1e9, 0.5).spanMs).toBe(MAX_SPAN_MS);
  });
  it("moves back in time, but not past the present", () => {
    expect(moved(FIRST_WINDOW, -5_000, NOW)).toEqual({ end: NOW + 1_200 - 5_000, spanMs: 30_000 });
    expect(moved({ end: NOW, spanMs: 30_000 }, 60_000, NOW).end).toBe(NOW + 1_200);
  });
  it("moves to an instant only when that is not visible", () => {
    const still = { end: NOW, spanMs: 10_000 };
    expect(revealing(still, NOW - 5_000, NOW)).toBe(still);
    expect(revealing(still, NOW - 60_000, NOW)).toEqual({ end: NOW - 55_000, spanMs: 10_000 });
  });
  it("fits stretches with room on both sides", () => {
    const window = fitting([
      [NOW, NOW],
      [NOW - 1_000, NOW + 1_000],
    ]);
    expect(window.spanMs).toBeCloseTo(2_900);
    expect(window.end).toBeCloseTo(NOW + 1_700);
    expect(fitting([[NOW, NOW]]).spanMs).toBe(MIN_SPAN_MS);
  });
});

it("puts ticks at round distances that leave room for their labels", () => {
  expect(tickStep(30_000, 1_000, 90)).toBe(5_000);
  expect(tickStep(500, 1_000, 90)).toBe(50);
  expect(tickStep(MAX_SPAN_MS, 100, 90)).toBe(1_800_000);
});
