import { expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import { dayName, httpDate, monthName } from "../../../../src/core/server/httpDate.ts";

const DAY_MS = 86_400_000;

it("names the days of the week, before 1970 too", () => {
  const days = Array.from({ length: 9 }, (_, day) => dayName(epochMs((day - 1) * DAY_MS)));
  expect(days).toEqual(["Wed", "Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed", "Thu"]);
  expect([dayName(epochMs(DAY_MS - 1)), dayName(epochMs(-DAY_MS - 1))]).toEqual(["Thu", "Tue"]);
});

it("names the months", () => {
  expect(Array.from({ length: 12 }, (_, index) => monthName(index + 1)).join(" ")).toBe(
    "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
  );
});

it.each([
  [0, "Thu, 01 Jan 1970 00:00:00 GMT"],
  [Date.UTC(2026, 10, 22, 8, 11, 25, 999), "Sun, 22 Nov 2026 08:11:25 GMT"],
])("formats %i as %s", (at, text) => {
  expect(httpDate(epochMs(at))).toBe(text);
});
