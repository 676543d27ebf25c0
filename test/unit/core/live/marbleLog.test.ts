import { describe, expect, it } from "vitest";
import { MAX_BATCH, MAX_DETAIL, MAX_TEXT } from "../../../../src/core/live/liveMessages.ts";
import { createMarbleLog, MAX_KEPT, MAX_SUBJECTS, type MarbleDraft } from "../../../../src/core/live/marbleLog.ts";
import { expectLinear } from "../../../support/expectLinear.ts";

const PARTS = [
  { name: "podConfig", reads: [], writes: ["registryInputs"] },
  { name: "podLifecycle", reads: ["registryInputs", "listing"], writes: ["registry", "podStatuses", "events"] },
  { name: "pleg", reads: ["registry"], writes: ["listing", "events"] },
];
const draft = (place: string, pod?: string, more: Partial<MarbleDraft> = {}): MarbleDraft => ({
  ...{ place, at: 1, text: place },
  ...(pod === undefined ? {} : { pod }),
  ...more,
});

/** A log with these drafts. */
const logOf = (...drafts: readonly MarbleDraft[]) => logWith(drafts);

function logWith(drafts: readonly MarbleDraft[]) {
  const log = createMarbleLog(PARTS);
  for (const each of drafts) log.add(each);
  return log;
}

describe("the log of marbles", () => {
  it("numbers them and names the part that writes the place, if there is one alone", () => {
    const { marbles } = logOf(draft("registryInputs"), draft("events"), draft("unknown")).after(0);
    expect(marbles.map(({ id, part }) => [id, part])).toEqual([
      [1, "podConfig"],
      [2, undefined],
      [3, undefined],
    ]);
  });

  it("has the latest marble of the same pod in a place that the part reads as the cause", () => {
    const { marbles } = logOf(
      draft("registryInputs", "a"),
      draft("registryInputs", "b"),
      draft("listing", "a"),
      draft("registry", "b"),
      draft("registry", "a"),
      draft("registry"),
      draft("registry", "c"),
      draft("events", "a"),
    ).after(0);
    expect(marbles.slice(3).map(({ cause }) => cause)).toEqual([2, 3, undefined, undefined, 5]);
  });

  it("gives what is new in batches, and counts what a slow watcher has lost", () => {
    const log = logOf(...Array.from({ length: MAX_KEPT + 10 }, () => draft("registry", "a")));
    const first = log.after(0);
    expect([first.dropped, first.marbles.length, first.marbles[0]?.id]).toEqual([10, MAX_BATCH, 11]);
    const next = log.after(10 + MAX_BATCH);
    expect([next.dropped, next.marbles[0]?.id]).toEqual([0, 11 + MAX_BATCH]);
    expect(log.after(log.last)).toEqual({ marbles: [], dropped: 0 });
  });

  it("gives nothing when it is empty", () => {
    expect(logOf().after(0)).toEqual({ marbles: [], dropped: 0 });
  });

  it("cuts long texts", () => {
    const [marble] = logOf(draft("registry", "a", { text: "x".repeat(1 << 20), detail: "y".repeat(1 << 20) })).after(
      0,
    ).marbles;
    expect([marble?.text.length, marble?.detail?.length]).toEqual([MAX_TEXT, MAX_DETAIL]);
  });

  it("forgets the causes of pods that have had no marble for longest", () => {
    const pods = Array.from({ length: MAX_SUBJECTS + 1 }, (_, index) => draft("listing", `pod${index}`));
    const log = logOf(...pods, draft("registry", "pod0"), draft("registry", "pod2"));
    const causes = log.after(log.last - 2).marbles.map(({ cause }) => cause);
    expect(causes).toEqual([undefined, 3]);
  });

  it("takes time in proportion to the marbles", () => {
    expectLinear((size) => Array.from({ length: size }, (_, index) => draft("registry", `pod${index % 100}`)), logWith);
  });
});
