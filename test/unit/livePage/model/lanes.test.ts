import { describe, expect, it } from "vitest";
import type { LiveMarble } from "../../../../src/core/live/liveMessages.ts";
import { createLanes, type Lanes } from "../../../../src/livePage/model/lanes.ts";
import { marbleFilter } from "../../../../src/livePage/model/marbleFilter.ts";

const NAMES = { "uid-a": "default/alpha", "uid-b": "default/beta" } as Readonly<Record<string, string>>;
const names = { podName: (uid: string) => NAMES[uid] ?? uid, places: ["events", "registry"], pods: ["uid-a", "uid-b"] };
let ids = 0;
const marble = (pod: string | undefined, place: string, text = "value"): LiveMarble => {
  ids += 1;
  return { id: ids, at: ids, place, text, ...(pod !== undefined && { pod }) };
};
const MARBLES = [marble("uid-b", "registry"), marble(undefined, "node"), marble("uid-gone", "events", "Killing")];

/** Shows lanes as `label: number of marbles`. */
const shown = (lanes: Lanes): readonly string[] =>
  lanes.list().map(({ label, marbles }) => `${label}: ${marbles.size}`);
const filled = (choice: Parameters<typeof createLanes>[0]): Lanes => {
  const lanes = createLanes(choice, names);
  for (const each of MARBLES) lanes.add(each);
  return lanes;
};
const ALL = { filter: undefined, pod: undefined } as const;

describe("createLanes", () => {
  it("has a lane for the node, for each pod, and for pods that are gone", () => {
    expect(shown(filled({ kind: "pod", ...ALL }))).toEqual([
      "node: 1",
      "default/alpha: 0",
      "default/beta: 1",
      "uid-gone: 1",
    ]);
  });
  it("has a lane for each place with a marble, in the order of the places", () => {
    expect(shown(filled({ kind: "place", ...ALL }))).toEqual(["events: 1", "registry: 1", "node: 1"]);
  });
  it("shows only lanes with marbles under a filter", () => {
    expect(shown(filled({ kind: "pod", filter: marbleFilter("BETA regis"), pod: undefined }))).toEqual([
      "default/beta: 1",
    ]);
    expect(shown(filled({ kind: "pod", filter: marbleFilter("killing"), pod: undefined }))).toEqual(["uid-gone: 1"]);
  });
  it("shows one pod by place", () => {
    expect(shown(filled({ kind: "place", filter: undefined, pod: "uid-b" }))).toEqual(["registry: 1"]);
  });
  it("removes the oldest marble of a lane, and the lane of a pod that is gone with its last", () => {
    const lanes = filled({ kind: "pod", ...ALL });
    lanes.remove(MARBLES[2] as LiveMarble);
    lanes.remove(marble("uid-b", "registry"));
    expect(shown(lanes)).toEqual(["node: 1", "default/alpha: 0", "default/beta: 1"]);
  });
  it("takes new names", () => {
    const changing = { ...names, pods: ["uid-a"] as string[] };
    const lanes = createLanes({ kind: "pod", ...ALL }, changing);
    expect(shown(lanes)).toEqual(["node: 0", "default/alpha: 0"]);
    changing.pods = ["uid-b", "uid-a"];
    lanes.renamed();
    expect(shown(lanes)).toEqual(["node: 0", "default/beta: 0", "default/alpha: 0"]);
  });
  it("bounds the lanes of pods that are gone", () => {
    const lanes = createLanes({ kind: "pod", ...ALL }, names);
    for (let index = 0; index < 500; index += 1) lanes.add(marble(`gone-${index}`, "registry"));
    expect(lanes.list()).toHaveLength(3 + 200);
  });
  it("keeps its list until a lane comes or goes", () => {
    const lanes = filled({ kind: "pod", ...ALL });
    const before = lanes.list();
    lanes.add(marble("uid-a", "registry"));
    expect(lanes.list()).toBe(before);
    lanes.add(marble("uid-new", "registry"));
    expect(lanes.list()).not.toBe(before);
  });
});

describe("marbleFilter", () => {
  it.each(["", "   "])("shows everything for %j", (text) => {
    expect(marbleFilter(text)).toBeUndefined();
  });
  it.each([
    ["fail", true],
    ["failed alpha", true],
    ["pleg", true],
    ["alpha beta", false],
  ])("looks for all words of %j", (text, isFound) => {
    const failed = { ...marble("uid-a", "runtimeStatuses", "exited"), part: "pleg", outcome: "failed" as const };
    expect(marbleFilter(text)?.(failed, "default/alpha")).toBe(isFound);
  });
});
