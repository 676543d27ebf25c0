import { describe, expect, it } from "vitest";
import { resolveFeatureGates } from "../../../src/cli/featureGates.ts";
import { FEATURE_GATES, GATE_DEPENDENCIES } from "../../../src/cli/gateTable.ts";
import { rowsOf, UPSTREAM_GATES } from "../core/config/upstreamFacts.ts";

const DEFAULTS = Object.fromEntries([...FEATURE_GATES].map(([name, gate]) => [name, gate.default]));
const changed = (settings: Readonly<Record<string, boolean>>) =>
  Object.fromEntries([...resolveFeatureGates(settings).gates].filter(([name, value]) => value !== DEFAULTS[name]));

describe("the gate table", () => {
  it("has upstream's gates, defaults and stages", () => {
    const rows = [...FEATURE_GATES].map(([name, gate]) => [name, String(gate.default), gate.stage]);
    expect(rows).toEqual(rowsOf(UPSTREAM_GATES));
  });

  it("locks all GA gates except five, and five deprecated gates", () => {
    const of = (stage: string, locked: boolean) =>
      [...FEATURE_GATES].filter(([, gate]) => gate.stage === stage && gate.locked === locked).map(([name]) => name);
    expect(of("GA", false)).toEqual([
      "AllowServiceExternalIPs",
      "CustomCPUCFSQuotaPeriod",
      "DRAPrioritizedList",
      "InformerResourceVersion",
      "MutatingAdmissionPolicy",
    ]);
    expect(of("DEPRECATED", true)).toEqual([
      "AggregatedDiscoveryRemoveBetaType",
      "AllowOverwriteTerminationGracePeriodSeconds",
      "DisableNodeKubeProxyVersion",
      "GitRepoVolumeDriver",
      "SeparateCacheWatchRPC",
    ]);
    expect(["ALPHA", "BETA"].flatMap((stage) => of(stage, true))).toEqual([]);
  });

  it("knows every gate another one needs", () => {
    const named = Object.entries(GATE_DEPENDENCIES).flatMap(([gate, needed]) => [gate, ...needed]);
    expect(named.filter((name) => !FEATURE_GATES.has(name))).toEqual([]);
  });
});

describe("resolveFeatureGates", () => {
  it("gives the defaults when nothing is set", () => {
    expect(resolveFeatureGates({})).toEqual({ gates: new Map(Object.entries(DEFAULTS)), problems: [], warnings: [] });
  });

  it("turns single gates on and off", () => {
    expect(changed({ EventedPLEG: true, ContainerCheckpoint: false })).toEqual({
      EventedPLEG: true,
      ContainerCheckpoint: false,
    });
  });

  it("lets AllAlpha turn on every alpha gate that is not set itself", () => {
    const alpha = [...FEATURE_GATES].filter(([name, gate]) => gate.stage === "ALPHA" && name !== "EventedPLEG");
    expect(changed({ EventedPLEG: false, AllAlpha: true })).toEqual(
      Object.fromEntries(alpha.map(([name]) => [name, true])),
    );
  });

  it("lets AllBeta turn off every beta gate", () => {
    const beta = [...FEATURE_GATES].filter(([, gate]) => gate.stage === "BETA" && gate.default);
    expect(changed({ AllBeta: false })).toEqual(Object.fromEntries(beta.map(([name]) => [name, false])));
  });

  it("refuses unknown gates and changed locked ones, all at once", () => {
    expect(
      resolveFeatureGates({
        EventedPleg: true,
        Fourth: true,
        NodeSwap: false,
        SidecarContainers: true,
        GitRepoVolumeDriver: true,
      }).problems,
    ).toEqual([
      { gate: "EventedPleg", reason: "unknown feature gate; did you mean EventedPLEG?" },
      { gate: "Fourth", reason: "unknown feature gate" },
      { gate: "NodeSwap", reason: "cannot be false: it is locked to true" },
      { gate: "GitRepoVolumeDriver", reason: "cannot be true: it is locked to false" },
    ]);
  });

  it("refuses a gate whose needs are off", () => {
    expect(resolveFeatureGates({ GracefulNodeShutdown: false }).problems).toEqual([
      { gate: "GracefulNodeShutdownBasedOnPodPriority", reason: "is on, but needs GracefulNodeShutdown, which is off" },
      { gate: "WindowsGracefulNodeShutdown", reason: "is on, but needs GracefulNodeShutdown, which is off" },
    ]);
  });

  it("notes gates that will be removed", () => {
    expect(resolveFeatureGates({ NodeSwap: true, KMSv1: true, EventedPLEG: true }).warnings).toEqual([
      "the feature gate NodeSwap is GA and will be removed in a later release",
      "the feature gate KMSv1 is deprecated and will be removed in a later release",
    ]);
  });
});
