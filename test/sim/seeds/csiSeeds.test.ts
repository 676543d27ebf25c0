import { describe, expect, it } from "vitest";
import { simSummary } from "../../../src/commands/simSummary.ts";
import { type FaultRates, noFaults } from "../../../src/sim/faults/faultKinds.ts";
import { simulateSeed } from "../../../src/sim/simulateSeed.ts";
import { furtherSeeds, knownSeeds, SEED_PATIENCE_MS } from "../../support/seedRun.ts";

const SEEDS = 10;

/** Drivers, kubelet and controller fail again and again, and pods are deleted by force meanwhile. */
const STORAGE_FAULTS: FaultRates = {
  ...noFaults(),
  ...{ kubeletCrashesInCall: 0.05, kubeletCrashes: 20, reboot: 2, apiOutage: 2, apiWatchGap: 6 },
  ...{ pluginFails: 0.15, pluginReplyLost: 0.15, pluginSlow: 0.2, pluginLies: 0.1, pluginHangs: 0.03 },
  ...{
    pluginEnds: 15,
    pluginRestarts: 10,
    pluginEndsInCall: 0.1,
    socketVanishes: 10,
    attachFails: 0.3,
    attachSlow: 0.3,
  },
  ...{ podReplaced: 40, mountFails: 0.02, containerExits: 10 },
};

type Found = readonly [seed: string, why: string];

/** Seeds whose bugs a test of their own finds, too. */
const FAR: readonly Found[] = [
  [
    "y19-347",
    "a mount point that its driver had left, although it said that it had unpublished the device, stayed for good",
  ],
  ["y19-483", "a pod was evicted for disk space before unused images were removed, because the API server was away"],
  ["y19-425", "claimsGrow expected an infeasible expansion whose controller waits until the volume is detached"],
  ["y19-273", "claimsGrow expected such an expansion after a boot"],
  ["w19-10", "sizesSettle expected a resize of a pod that waited for a volume with another SELinux label"],
  ["v19-101", "pods from disk were observed after those of the API server, and its pods seemed to leave and return"],
  ["y19-504", "shutdownOrder took a later status of a pod that an earlier shutdown had ended for its end"],
];

/** The same for the faults of storage. */
const FAR_HARD: readonly Found[] = [
  ["h19-300", "the controller detached a volume that it was about to attach again, since the node had it in use"],
];

describe("a node with CSI drivers, under faults", () => {
  const further = furtherSeeds("csi", SEEDS);
  process.stdout.write(`      further seeds of --workload=csi, 12 pods, 30 min: ${further.join(" ")}\n`);

  const failureOf = (seed: string | number, faults: "default" | FaultRates): string => {
    const result = simulateSeed({ seed, pods: 12, durationMs: 30 * 60_000, workload: "csi", faults });
    return result.outcome === "ok" ? "" : simSummary(result);
  };

  it.each<readonly [seed: string | number, why: string]>([
    [1007, "a volume that was staged and not published yet was not in use after a restart"],
    [
      "hard-18",
      "a volume was unstaged while a device of it was published for a pod that was gone: its driver had lied",
    ],
    [1015, "a volume that was staged and not published yet stayed staged when its pod went during a restart"],
    ...knownSeeds(FAR_HARD, 0),
  ])(
    "keeps every rule while its storage fails: seed %s, %s",
    (seed) => {
      expect(failureOf(seed, STORAGE_FAULTS)).toBe("");
    },
    SEED_PATIENCE_MS,
  );

  it.each<Found>([
    ["exp-1", "an expansion to a size that was looked up before the volume grew again ended the newer expansion"],
    ["csi19-38", "a device that its driver had not unpublished, although it said so, was forgotten with its pod"],
    ["exp-2", "a volume needed again was staged while the report that removes it from volumesInUse was under way"],
    ...knownSeeds(FAR, 0),
  ])(
    "keeps every rule under all faults: seed %s, %s",
    (seed) => {
      expect(failureOf(seed, "default")).toBe("");
    },
    SEED_PATIENCE_MS,
  );

  it.each(further)(
    "keeps every rule under all faults: seed %s",
    (seed) => {
      expect(failureOf(seed, "default")).toBe("");
    },
    SEED_PATIENCE_MS,
  );
});
