import { expect, it } from "vitest";
import { restartCountByLogs } from "../../../../src/core/container/restartCount.ts";

it.each<[readonly string[], number]>([
  [[], 0],
  [["0.log"], 1],
  [["0.log", "2.log", "10.log"], 11],
  [["3.log.20260101-000000.gz", "3.log"], 4],
  [["x.log", "1.logs", "-1.log", "5.txt"], 0],
])("restart counts continue after the newest log: %j", (names, count) => {
  expect(restartCountByLogs(names)).toBe(count);
});
