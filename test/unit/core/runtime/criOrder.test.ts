import { expect, it } from "vitest";
import { newestFirst } from "../../../../src/core/runtime/criOrder.ts";

const NOW = { attempt: 1, createdAt: 5n };

it.each([
  ["the later attempt first, even with an older time", { attempt: 2, createdAt: 1n }, -1],
  ["the earlier attempt last, even with a newer time", { attempt: 0, createdAt: 9n }, 1],
  ["the newer of two with the same attempt first", { attempt: 1, createdAt: 6n }, -1],
  ["the older of two with the same attempt last", { attempt: 1, createdAt: 4n }, 1],
  ["two of the same attempt and time as they are", NOW, 0],
])("newestFirst orders %s", (_title, other, order) => {
  expect(newestFirst(other, NOW)).toBe(order);
});
