import { describe, expect, it } from "vitest";
import { configNeverOlder } from "../../../src/sim/checkers/configNeverOlder.ts";
import { call, verdicts } from "./observations.ts";

const made = (configRevision: number, podUid = "uid-1") => ({
  ...call("CreateContainer", "main#0", { podUid }),
  configRevision,
});

describe("configNeverOlder", () => {
  it.each([
    ["accepts newer and equal revisions", [made(1), made(3), made(3), made(4)], []],
    ["reports an older revision", [made(3), made(2), made(3)], [2, 3]],
    ["accepts an older revision for another pod", [made(3), made(2, "uid-2")], []],
  ] as const)("%s", (_, steps, [older, newer]) =>
    expect(verdicts(configNeverOlder(), steps)).toEqual(
      older === undefined
        ? []
        : [`demo/plain/main#0 is created from revision ${older} of its ConfigMap after revision ${newer}`],
    ),
  );
});
