import { describe, expect, it } from "vitest";
import type { LivePod } from "../../../../src/core/live/liveMessages.ts";
import { createPlaceHues, HUES, MAX_HUED } from "../../../../src/livePage/model/placeHues.ts";
import { placeLetters } from "../../../../src/livePage/model/placeLetters.ts";
import { createPodNames } from "../../../../src/livePage/model/podNames.ts";

describe("placeLetters", () => {
  it.each([
    ["registry", "R"],
    ["registryInputs", "RI"],
    ["podStatuses", "PS"],
    ["cri call", "CC"],
    ["csi-drivers", "CD"],
    ["<!>", ""],
    ["", ""],
  ])("has for %j the letters %j", (place, letters) => {
    expect(placeLetters(place)).toBe(letters);
  });
});

describe("createPlaceHues", () => {
  it("gives each place the next colour, and the same one again", () => {
    let appeared = 0;
    const hues = createPlaceHues(() => (appeared += 1));
    expect(["a", "b", "a", "c"].map((place) => hues.of(place))).toEqual([0, 1, 0, 2]);
    expect([hues.seen, appeared]).toEqual([["a", "b", "c"], 3]);
  });
  it("uses a colour for several places, and remembers a bounded number", () => {
    const hues = createPlaceHues(() => undefined);
    for (let index = 0; index < MAX_HUED + 10; index += 1) hues.of(`place-${index}`);
    expect([hues.of(`place-${HUES}`), hues.of("another"), hues.seen.length]).toEqual([0, 0, MAX_HUED]);
  });
});

describe("createPodNames", () => {
  const pod = (uid: string, name = uid): LivePod => ({ uid, namespace: "ns", name }) as LivePod;
  it("names pods of the node, and those that were there", () => {
    const names = createPodNames();
    names.take([pod("a"), pod("b", "b\u202e")]);
    names.take([pod("c")]);
    expect(["a", "b", "c", "d"].map((uid) => names.of(uid))).toEqual(["ns/a", "ns/b\ufffd", "ns/c", "d"]);
    expect(names.pods).toEqual(["c"]);
  });
  it("forgets the pods that were named longest ago", () => {
    const names = createPodNames(3);
    names.take([pod("a"), pod("b"), pod("c")]);
    names.take([pod("a"), pod("d")]);
    expect(["a", "b", "c", "d"].map((uid) => names.of(uid))).toEqual(["ns/a", "b", "ns/c", "ns/d"]);
  });
});
