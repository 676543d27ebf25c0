import { describe, expect, it } from "vitest";
import { fullNameOf, podUid } from "../../../../src/core/ids.ts";
import { FullNameHolders } from "../../../../src/core/pod/fullNameHolders.ts";
import { freshRecord } from "../../../../src/core/pod/podRecord.ts";
import type { PodRecordState } from "../../../../src/core/pod/podRegistryTypes.ts";

const [A, B] = [podUid("a"), podUid("b")];
const NAME = fullNameOf({ name: "web", namespace: "demo" });
const OTHER = fullNameOf({ name: "web", namespace: "other" });

/** A record of a pod; by default it is called as the others. */
const record = (uid: typeof A, state: PodRecordState, namespace = "demo") =>
  [uid, { ...freshRecord({ uid, name: "web", namespace }), state }] as const;

const heldBy = (uid: typeof A) => new FullNameHolders({ holders: new Map([[NAME, uid]]) });

describe("FullNameHolders", () => {
  it("gives a name, and with giveIfFree only one that nobody holds", () => {
    const names = new FullNameHolders({ holders: new Map() });
    names.giveIfFree(NAME, A);
    names.giveIfFree(NAME, B);
    names.give(OTHER, B);
    expect([names.of(NAME), names.of(OTHER)]).toEqual([A, B]);
    names.give(NAME, B);
    expect(names.of(NAME)).toBe(B);
  });

  it("leaves the registry that it copies as it is", () => {
    const holders = new Map([[NAME, A]]);
    new FullNameHolders({ holders }).give(NAME, B);
    expect(holders.get(NAME)).toBe(A);
  });

  it.each<[string, readonly ReturnType<typeof record>[], typeof A | undefined]>([
    ["to nobody without others", [], undefined],
    ["to another pod that terminates", [record(B, "terminating")], B],
    ["to another pod that has stopped and is cleaned up", [record(B, "terminated")], B],
    ["to no pod that waits for the name", [record(B, "waiting")], undefined],
    ["to no pod of another name", [record(B, "terminating", "other")], undefined],
  ])("passes a released name %s", (_, records, expected) => {
    const names = heldBy(A);
    names.release(NAME, A, new Map(records));
    expect(names.of(NAME)).toBe(expected);
  });

  it("takes a name from nobody but its holder", () => {
    const names = heldBy(A);
    names.release(NAME, B, new Map([record(B, "terminating")]));
    expect(names.of(NAME)).toBe(A);
  });
});
