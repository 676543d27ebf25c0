import { describe, expect, it } from "vitest";
import { podUid } from "../../../../src/core/ids.ts";
import { emptyRuntimeStatus, type PodRuntimeStatus } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { createMissedHints } from "../../../../src/pipelines/runtime/missedHints.ts";
import { createSequence } from "../../../../src/state/sequence.ts";

const statusAt = (sequence: number, containers: readonly string[], sandboxes: readonly string[] = []) =>
  ({
    ...emptyRuntimeStatus(podUid("u"), "n", "ns", sequence),
    containers: containers.map((id) => ({ id })),
    sandboxes: sandboxes.map((id) => ({ id })),
  }) as unknown as PodRuntimeStatus;

describe("missed hints", () => {
  it.each([
    ["a container, before the inspection", statusAt(3, ["a"]), false],
    ["a container, with the inspection's number", statusAt(2, ["a"]), false],
    ["a container, after the inspection began", statusAt(1, ["a"]), true],
    ["a sandbox, after the inspection began", statusAt(1, [], ["a"]), true],
    ["another container", statusAt(0, ["b"], ["c"]), false],
    ["a container of several", statusAt(1, ["b", "a", "c"]), true],
  ])("of %s", (_, status, isBehind) => {
    const sequence = createSequence();
    const hints = createMissedHints(sequence);
    sequence.next();
    hints.note("a");
    expect(hints.isBehind(status)).toBe(isBehind);
  });

  it("count once, also those of the same inspection", () => {
    const hints = createMissedHints(createSequence());
    hints.note("a");
    hints.note("b");
    expect([hints.isBehind(statusAt(0, ["a", "b"])), hints.isBehind(statusAt(0, ["a", "b"]))]).toEqual([true, false]);
  });

  it("are bounded: beyond 1024 the oldest is dropped, and a repeated hint is the newest", () => {
    const hints = createMissedHints(createSequence());
    for (let number = 0; number < 1024; number += 1) hints.note(`c${number}`);
    hints.note("c0");
    hints.note("new");
    const known = ["c0", "c1", "c2", "new"].filter((id) => hints.isBehind(statusAt(0, [id])));
    expect(known).toEqual(["c0", "c2", "new"]);
  });
});
