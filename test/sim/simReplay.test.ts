import { describe, expect, it } from "vitest";
import { noFaults } from "../../src/sim/faults/faultKinds.ts";
import { readReplay, replayText, type SimReplay } from "../../src/sim/simReplay.ts";

const REPLAY: SimReplay = {
  version: 5,
  seed: "42",
  pods: 3,
  durationMs: 60_000,
  isCalm: false,
  rates: { ...noFaults(), criFails: 0.1 },
  keptPods: ["steady-0"],
  keptFaults: ["criFails Status  1"],
};

describe("readReplay", () => {
  it("reads what replayText wrote", () => {
    const { keptPods: _, keptFaults: __, ...whole } = REPLAY;
    expect([readReplay(replayText(REPLAY)), readReplay(replayText(whole))]).toEqual([
      { ok: true, value: REPLAY },
      { ok: true, value: whole },
    ]);
  });

  it.each<[string, unknown, string]>([
    ["no JSON", "{", "is not JSON"],
    ["no object", [], "version is undefined"],
    ["null", null, "must be an object"],
    ["another version", { ...REPLAY, version: 1 }, "version is 1, this rxlet replays version 5"],
    ["a seed that is a number", { ...REPLAY, seed: 42 }, "seed must be a text"],
    ["half a pod", { ...REPLAY, pods: 0.5 }, "pods must be a whole number of at least 0"],
    ["a negative duration", { ...REPLAY, durationMs: -1 }, "durationMs must be a whole number of at least 0"],
    ["calm as a text", { ...REPLAY, isCalm: "no" }, "isCalm must be true or false"],
    ["one kept pod", { ...REPLAY, keptPods: "steady-0" }, "keptPods must be a list of names"],
    ["kept faults that are no texts", { ...REPLAY, keptFaults: [1] }, "keptFaults must be a list of faults"],
    ["no rates", { ...REPLAY, rates: undefined }, "fault rates: must be an object of fault kinds and rates"],
    ["an unknown fault", { ...REPLAY, rates: { flood: 1 } }, "fault rates: flood is no fault; there are criFails,"],
  ])("rejects %s with the field and the reason", (_, given, why) => {
    const read = readReplay(typeof given === "string" ? given : JSON.stringify(given));
    expect(read.ok ? "read" : read.error.message).toMatch(why);
    expect(read.ok ? "" : read.error.message).toMatch(/^replay: /);
  });
});
