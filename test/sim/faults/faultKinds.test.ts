import { describe, expect, it } from "vitest";
import { drawFaultRates, FAULT_KINDS, type FaultKind, type FaultRates } from "../../../src/sim/faults/faultKinds.ts";
import { createFaultDice } from "../../../src/sim/faults/faultDice.ts";
import { createPrng } from "../../../src/sim/prng.ts";
import { simulateSeed } from "../../../src/sim/simulateSeed.ts";

const KINDS = Object.keys(FAULT_KINDS) as readonly FaultKind[];
/** The pods of a workload have no volumes that are mounted or filled. */
const NOT_MET: ReadonlySet<FaultKind> = new Set<FaultKind>([
  "mountFails",
  "mountReplyLost",
  "mountSlow",
  "mountGoesOn",
  "unmountStuck",
  "unmountFails",
  "volumeWriteFails",
]);
/** Only nodes with devices have plugins. */
const OF_PLUGINS: ReadonlySet<FaultKind> = new Set<FaultKind>([
  "pluginFails",
  "pluginReplyLost",
  "pluginSlow",
  "pluginLies",
  "pluginHangs",
  "pluginEnds",
  "pluginRestarts",
  "devicesChange",
]);
/** Only nodes with CSI volumes have an attach/detach controller, and drivers that end during a call. */
const OF_STORAGE: ReadonlySet<FaultKind> = new Set<FaultKind>([
  "pluginEndsInCall",
  "socketVanishes",
  "attachFails",
  "attachSlow",
]);
const ratesOf = (rate: (kind: FaultKind) => number): FaultRates =>
  Object.fromEntries(KINDS.map((kind) => [kind, rate(kind)])) as FaultRates;

/** Every kind often enough to be seen within minutes; few calls fail, so that there are calls of every other kind. */
const EVERYTHING = ratesOf((kind) => {
  const { per } = FAULT_KINDS[kind];
  return per === "hour" ? 20 : per === "call" || per === "effect" ? 0.02 : 0.2;
});

describe("the kinds of faults", () => {
  // Some nodes have no event stream and some no page of manifests.
  it("all occur on nodes with all faults, and each node reaches the desired state afterwards", () => {
    const { outcome, violations, faults } = simulateSeed({
      seed: "everything",
      pods: 6,
      nodes: 4,
      durationMs: 30 * 60_000,
      faults: EVERYTHING,
    });
    expect([outcome, violations]).toEqual(["ok", []]);
    const isElsewhere = (kind: FaultKind): boolean => NOT_MET.has(kind) || OF_PLUGINS.has(kind) || OF_STORAGE.has(kind);
    expect(KINDS.filter((kind) => (faults[kind] ?? 0) === 0 && !isElsewhere(kind))).toEqual([]);
  });

  it.each([
    ["plugins", "pinned", OF_PLUGINS, 0.15],
    ["storage", "csi", OF_STORAGE, 0.4],
  ] as const)(
    "of %s all occur on a node with them, which reaches the desired state afterwards",
    (seed, workload, own, rate) => {
      const { outcome, violations, faults } = simulateSeed({
        ...{ seed, workload, pods: 12, durationMs: 30 * 60_000 },
        faults: ratesOf((kind) => (!own.has(kind) ? 0 : FAULT_KINDS[kind].per === "hour" ? 40 : rate)),
      });
      expect([outcome, violations]).toEqual(["ok", []]);
      expect([...own].filter((kind) => (faults[kind] ?? 0) === 0)).toEqual([]);
    },
  );

  it("are drawn up to their highest rates, some of them in each run", () => {
    const runs = Array.from({ length: 200 }, (_, seed) => drawFaultRates(createPrng(seed)));
    for (const kind of KINDS) {
      const most = Math.max(...runs.map((rates) => rates[kind]));
      expect([kind, most <= FAULT_KINDS[kind].highest, most > 0]).toEqual([kind, true, true]);
      expect(runs.some((rates) => rates[kind] === 0)).toBe(true);
    }
  });
});

describe("createFaultDice", () => {
  const rates = ratesOf((kind) => (kind === "criFails" || kind === "criSlow" ? 0.3 : 0));
  const rolls = Array.from({ length: 300 }, (_, index) => `call ${index}`);
  const happenedOf = (only?: ReadonlySet<string>, order = rolls): readonly string[] => {
    const dice = createFaultDice({ seed: 1, rates, only });
    for (const what of order) dice.roll(["criFails", "criSlow"], what);
    return dice.happened;
  };

  it("decides each fault by its name alone, independent of other faults and their order", () => {
    const all = happenedOf();
    expect(all.length).toBeGreaterThan(120);
    expect(all.length).toBeLessThan(240);
    expect(happenedOf(undefined, rolls.toReversed()).toSorted()).toEqual(all.toSorted());
  });

  it("keeps only the listed faults, unchanged", () => {
    const some = happenedOf().filter((_, index) => index % 3 === 0);
    expect(happenedOf(new Set(some))).toEqual(some);
  });

  it("gives a fault the same details with and without other faults", () => {
    const particulars = (only?: ReadonlySet<string>) => {
      const dice = createFaultDice({ seed: 1, rates, only });
      return rolls.map((what) => dice.roll(["criFails", "criSlow"], what)?.prng.next());
    };
    const [whole, one] = [particulars(), happenedOf()[5] ?? ""];
    const index = rolls.indexOf(one.slice(one.indexOf(" ") + 1));
    expect(particulars(new Set([one]))[index]).toBe(whole[index]);
  });

  it("counts by kind, and has no faults once healed", () => {
    const dice = createFaultDice({ seed: 1, rates });
    for (const what of rolls) dice.roll(["criFails", "criSlow"], what);
    const before = dice.counts();
    dice.heal();
    for (const what of rolls) expect(dice.roll(["criFails"], `later ${what}`)).toBeUndefined();
    const { criFails = 0, criSlow = 0 } = before;
    expect([dice.isHealed, dice.counts(), criFails + criSlow]).toEqual([true, before, dice.happened.length]);
  });
});
