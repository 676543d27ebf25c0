import { expect, it } from "vitest";
import { readVerbosity } from "../../../../src/core/server/readVerbosity.ts";

it.each([
  ["0", 0],
  ["007", 7],
  ["2147483647", 2_147_483_647],
  ["2147483648", 'strconv.ParseUint: parsing "2147483648": value out of range'],
  ["", 'strconv.ParseUint: parsing "": invalid syntax'],
  ["-1", 'strconv.ParseUint: parsing "-1": invalid syntax'],
  ["1.5", 'strconv.ParseUint: parsing "1.5": invalid syntax'],
  ["x".repeat(64), `strconv.ParseUint: parsing "${"x".repeat(64)}": invalid syntax`],
  ["x".repeat(65), `strconv.ParseUint: parsing "${"x".repeat(64)}": invalid syntax`],
])("reads %j as %j", (text, expected) => {
  const read = readVerbosity(text);
  expect(read.ok ? read.value : read.error.message).toBe(expected);
  expect(read.ok || read.error.code).toBe(read.ok || "InvalidArgument");
});
