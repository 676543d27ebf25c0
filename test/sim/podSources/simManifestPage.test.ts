import { describe, expect, it } from "vitest";
import type { SourceSnapshot } from "../../../src/core/pod/sourceSnapshot.ts";
import { createFaultDice } from "../../../src/sim/faults/faultDice.ts";
import { noFaults } from "../../../src/sim/faults/faultKinds.ts";
import { createPageFaults } from "../../../src/sim/faults/pageFaults.ts";
import { createHeapScheduler } from "../../../src/sim/time/heapScheduler.ts";
import { createPrng } from "../../../src/sim/prng.ts";
import { createSimClock } from "../../../src/sim/time/simClock.ts";
import { createSimManifestPage, type SimPageFate } from "../../../src/sim/podSources/simManifestPage.ts";
import { httpPodSource } from "../../../src/sources/httpPodSource.ts";
import { manifestDigest } from "../../../src/sources/manifestDigest.ts";
import { manifestOf } from "../../support/simWorkload.ts";

const page = (...names: readonly string[]): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "PodList",
    items: names.map((name) => manifestOf(name, { containers: [{ name: "app", image: "registry.example/app:1" }] })),
  });

/** The production source on a page whose requests have these fates, one after the other, then none; 20 s apart. */
function source(fates: readonly SimPageFate[] = []) {
  const scheduler = createHeapScheduler();
  const clock = createSimClock(scheduler);
  const left = [...fates];
  const server = createSimManifestPage({ clock, fate: () => left.shift() ?? { kind: "answer" } });
  const reported: string[] = [];
  const snapshot = ({ pods, problems, ready }: SourceSnapshot): string => {
    const names = pods.map(({ metadata }) => metadata.name.replace("-node", "")).join("+");
    const why = problems.map(({ reason }) => reason.slice(0, 30)).join("; ");
    return `${scheduler.now() / 1_000} ${names}${ready === false ? " not ready" : ""}${why === "" ? "" : ` (${why})`}`;
  };
  httpPodSource({
    url: "http://pods.example/",
    server,
    nodeName: "node",
    periodMs: 20_000,
    clock,
    digest: manifestDigest,
  }).subscribe({ next: (each) => reported.push(snapshot(each)) });
  const runTo = (ms: number): void => {
    while (scheduler.runNext(ms));
    scheduler.advanceTo(ms);
  };
  return { server, reported, runTo };
}

describe("createSimManifestPage", () => {
  it("starts without pods and then serves its last content", () => {
    const { server, reported, runTo } = source();
    runTo(10_000);
    server.put(page("a"));
    server.put(page("a", "b"));
    runTo(60_000);
    expect(reported).toEqual(["0.02 ", "20.04 a+b"]);
  });

  it.each<[string, SimPageFate, string]>([
    ["refuses a request", { kind: "refuse" }, "20.04 a (connect ECONNREFUSED)"],
    ["never answers", { kind: "hang" }, "30.02 a (no answer within 10000 ms)"],
    ["answers another status", { kind: "status", status: 503 }, "20.04 a (answered with status 503)"],
  ])("keeps the previous pods when the server %s", (_, fate, problem) => {
    const { server, reported, runTo } = source([{ kind: "answer" }, fate]);
    server.put(page("a"));
    runTo(70_000);
    expect([reported.slice(0, 2), reported.length, reported[2]?.split(" ")[1]]).toEqual([["0.02 a", problem], 3, "a"]);
  });

  it("sends half a body, which the kubelet rejects", () => {
    const { server, reported, runTo } = source([{ kind: "answer" }, { kind: "cut", part: 0.5 }]);
    server.put(page("a", "b"));
    runTo(30_000);
    expect(reported).toHaveLength(2);
    expect(reported[1]).toMatch(/^20\.04 a\+b \(.+\)$/);
  });

  it("sends an outdated body, like a cache", () => {
    const { server, reported, runTo } = source([{ kind: "answer" }, { kind: "stale", changesAgo: 1 }]);
    server.put(page("a"));
    server.put(page("a", "b"));
    runTo(50_000);
    expect(reported).toEqual(["0.02 a+b", "20.04 a", "40.06 a+b"]);
  });
});

describe("createPageFaults", () => {
  const faultsOf = (rates: Partial<ReturnType<typeof noFaults>>) => {
    const dice = createFaultDice({ seed: 1, rates: { ...noFaults(), ...rates } });
    return { dice, faults: createPageFaults(dice) };
  };

  it("sends cut and outdated bodies at their rates until all faults are healed", () => {
    const { dice, faults } = faultsOf({ pageCut: 0.5, pageStale: 0.5 });
    const fates = Array.from({ length: 100 }, () => faults.fate().kind);
    expect(new Set(fates)).toEqual(new Set(["cut", "stale"]));
    dice.heal();
    expect(faults.fate()).toEqual({ kind: "answer" });
  });

  it("is down in one of three ways until it comes back", () => {
    const { faults } = faultsOf({});
    const kinds = new Set<string>();
    for (let seed = 0; seed < 20; seed += 1) {
      faults.goDown(createPrng(seed));
      kinds.add(faults.fate().kind);
    }
    faults.comeBack();
    expect([kinds, faults.fate().kind]).toEqual([new Set(["refuse", "hang", "status"]), "answer"]);
  });
});
