import { expect, it } from "vitest";
import { fileVerbosity } from "../../../../src/core/telemetry/vmodule.ts";

const item = (filePattern: string, verbosity: number) => ({ filePattern, verbosity });

it.each([
  ["no pattern", [], 0],
  ["another file", [item("relists", 9)], 0],
  ["the beginning of the name", [item("ple", 9)], 0],
  ["the name", [item("pleg", 9)], 9],
  ["the name with its ending", [item("pleg.ts", 9)], 0],
  ["wildcards", [item("p??[a-g]", 7)], 7],
  ["the first of two", [item("p*", 3), item("pleg", 9)], 3],
  ["a second, as the first has verbosity 0", [item("pleg", 0), item("p*", 5)], 5],
  ["a malformed pattern", [item("pl[eg", 9)], 0],
])("%s", (_, items, wanted) => {
  expect(fileVerbosity(items, "pleg")).toBe(wanted);
});
