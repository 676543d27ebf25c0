import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../src/core/api.ts";
import { createSimApiServer, type SimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { drawFaultRates, type FaultRates, noFaults } from "../../src/sim/faults/faultKinds.ts";
import { watchStages } from "../../src/operators/loopStage.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createPrng } from "../../src/sim/prng.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { createSimNode, type SimNode } from "../../src/sim/simNode.ts";
import type { SimNodeOptions } from "../../src/sim/simNodeOptions.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { simulateSeed } from "../../src/sim/simulateSeed.ts";
import { containerOf } from "../support/pods.ts";
import { newPod } from "../support/simApi.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const IMAGES = ["registry.example/app:1", "registry.example/app:2"].map((name) => simImage(name));

/** Nodes of one server, in one virtual time. */
function cluster(...nodeNames: readonly string[]) {
  return slowCluster(undefined, ...nodeNames);
}

/** The same with a runtime that takes its time. */
function slowCluster(latency: SimNodeOptions["latency"], ...nodeNames: readonly string[]) {
  const scheduler = createHeapScheduler();
  const server = createSimApiServer({ clock: createSimClock(scheduler) });
  const nodes = nodeNames.map((nodeName) =>
    createSimNode({
      seed: nodeName,
      scheduler,
      api: server,
      config: { nodeName },
      images: IMAGES,
      ...(latency === undefined ? {} : { latency }),
      programs: () => ({ ...runsForever, onTerm: { afterMs: 500, code: 0 } }),
    }),
  );
  return { server, nodes, node: nodes[0] as SimNode };
}

const ref = (name: string) => ({ namespace: "default", name });
function place(server: SimApiServer, nodeName: string, name: string): void {
  server.put("pods", newPod(name));
  server.schedule(ref(name), nodeName);
}
const uidsOn = (node: SimNode): readonly string[] => node.pods().map(({ metadata }) => metadata.uid);
const uidOf = (server: SimApiServer, name: string): string | undefined =>
  server.object("pods", ref(name))?.metadata?.uid;

describe("a node that takes its pods from an API server", () => {
  it("runs a pod that is assigned to it, follows its changes, and stops it when it is deleted", () => {
    const { server, node } = cluster("one");
    server.put("pods", newPod("web"));
    node.runFor(1_000);
    const unplaced = node.running();
    server.schedule(ref("web"), "one");
    node.runFor(1_000);
    const placed = node.running();
    const image = "registry.example/app:2";
    server.put("pods", { metadata: ref("web"), spec: { containers: [containerOf({ image })] } });
    node.runFor(5_000);
    const edited = node.running();
    server.delete("pods", ref("web"), { gracePeriodSeconds: 10 });
    node.runFor(5_000);
    expect([unplaced, placed, edited, node.running(), node.violations]).toEqual([
      [],
      ["default/web/main#0"],
      ["default/web/main#1"],
      [],
      [],
    ]);
  });

  it("wakes no worker for fields of the status that the kubelet itself writes, but for conditions of others", () => {
    let woken = 0;
    const unwatch = watchStages({
      current: undefined,
      enter: ({ kind }) => void (woken += kind === "pod_worker" ? 1 : 0),
      leave: () => undefined,
    });
    const { server, node } = cluster("one");
    place(server, "one", "web");
    const statusOf = () => server.object("pods", ref("web"))?.status ?? {};
    const wakesAfter = (change: () => void): number => {
      node.runFor(15_000);
      woken = 0;
      change();
      node.runFor(15_000);
      return woken;
    };
    const condition = { type: "example.com/ready", status: "True" } as const;
    const own = wakesAfter(() => server.setStatus(ref("web"), { ...statusOf(), message: "of another writer" }));
    const message = statusOf().message;
    const foreign = wakesAfter(() =>
      server.setStatus(ref("web"), { ...statusOf(), conditions: [...(statusOf().conditions ?? []), condition] }),
    );
    unwatch();
    expect({ own, message, isForeignSeen: foreign > 0 }).toEqual({ own: 0, message: undefined, isForeignSeen: true });
  });

  it("reports the end of a resize at once, whatever older status the server returns meanwhile", () => {
    const { server, node } = slowCluster((rpc) => (rpc === "RemoveContainer" ? 1_000 : 2), "one");
    const specOf = (memory: string): PodSpec => {
      const resizePolicy = [{ resourceName: "memory", restartPolicy: "RestartContainer" }];
      return { containers: [containerOf({ resizePolicy, resources: { requests: { memory }, limits: { memory } } })] };
    };
    const conditions = (): readonly unknown[] =>
      (server.object("pods", ref("web"))?.status?.conditions ?? []).map(({ type }) => type);
    server.put("pods", { ...newPod("web"), spec: specOf("1Gi") });
    server.schedule(ref("web"), "one");
    node.runFor(45_000);
    for (const [index, memory] of ["2Gi", "1Gi", "2Gi", "1Gi"].entries()) {
      server.resize(ref("web"), specOf(memory));
      node.runFor(45_000);
      expect([conditions(), node.running()]).toEqual([
        expect.not.arrayContaining(["PodResizeInProgress"]),
        [`default/web/main#${index + 1}`],
      ]);
    }
  });

  it("replaces a pod that was force-deleted and recreated with its name", () => {
    const { server, node } = cluster("one");
    place(server, "one", "web");
    node.runFor(5_000);
    const [before] = uidsOn(node);
    server.delete("pods", ref("web"), { gracePeriodSeconds: 0 });
    place(server, "one", "web");
    node.runFor(MINUTE_MS);
    expect([uidsOn(node), node.running(), before === uidOf(server, "web"), node.violations]).toEqual([
      [uidOf(server, "web")],
      ["default/web/main#0"],
      false,
      [],
    ]);
  });

  it("removes nothing before the first list of pods, and removed pods afterwards", () => {
    const { server, node } = cluster("one");
    for (const name of ["kept", "gone"]) place(server, "one", name);
    node.runFor(5_000);
    const ids = node.runtime.containers().map(({ id }) => id);
    node.crashKubelet();
    server.setNetwork("refused");
    server.delete("pods", ref("gone"), { gracePeriodSeconds: 0 });
    node.restartKubelet();
    node.runFor(30 * MINUTE_MS);
    const during = node.runtime.containers().flatMap(({ id, phase }) => (phase.kind === "running" ? [id] : []));
    server.setNetwork("up");
    node.runFor(2 * MINUTE_MS);
    expect([during, node.running(), node.runtime.sandboxes().length, node.violations]).toEqual([
      ids,
      ["default/kept/main#0"],
      1,
      [],
    ]);
  });

  it("continues with the known pods while the server is away", () => {
    const { server, node } = cluster("one");
    place(server, "one", "web");
    node.runFor(5_000);
    server.setNetwork("silent");
    node.runFor(10 * MINUTE_MS);
    node.kill("default/web/main");
    node.runFor(MINUTE_MS);
    expect([node.running(), node.violations]).toEqual([["default/web/main#1"], []]);
  });

  it("shares its server with other nodes, each with its own pods", () => {
    const { server, nodes, node } = cluster("one", "two", "three");
    for (const [index, name] of ["a", "b", "c", "d"].entries()) place(server, ["one", "two"][index % 2] ?? "", name);
    node.runFor(5_000);
    server.delete("pods", ref("b"), { gracePeriodSeconds: 1 });
    node.runFor(5_000);
    expect(nodes.map((each) => each.running())).toEqual([
      ["default/a/main#0", "default/c/main#0"],
      ["default/d/main#0"],
      [],
    ]);
    // Pods, the node itself, services and RuntimeClasses, of each node.
    expect(server.watchCount).toBe(12);
  });
});

describe("nodes whose API server is in trouble", () => {
  const TROUBLE: FaultRates = {
    ...noFaults(),
    apiOutage: 12,
    apiWatchGap: 30,
    apiGone: 12,
    apiConflict: 40,
    podReplaced: 20,
  };

  it.each(Array.from({ length: 4 }, (_, seed) => `api ${seed}`))(
    "break no rule and come to what is wanted once it is well: %s",
    (seed) => {
      const { outcome, violations, faults } = simulateSeed({
        seed,
        pods: 10,
        durationMs: HOUR_MS / 2,
        faults: TROUBLE,
      });
      expect([outcome, violations]).toEqual(["ok", []]);
      const kinds = ["apiOutage", "apiWatchGap", "apiGone", "apiConflict", "podReplaced"] as const;
      expect(kinds.filter((kind) => (faults[kind] ?? 0) === 0)).toEqual([]);
    },
  );

  it("are drawn in the usual runs as well", () => {
    const drawn = Array.from({ length: 20 }, (_, seed) => drawFaultRates(createPrng(`rates ${seed}`)));
    for (const kind of ["apiOutage", "apiWatchGap", "apiGone", "apiConflict"] as const) {
      expect([kind, drawn.some((rates) => rates[kind] > 0)]).toEqual([kind, true]);
    }
  });

  it("live the same life whenever the seed is the same", () => {
    const run = () => simulateSeed({ seed: "again", pods: 8, durationMs: HOUR_MS / 4, faults: TROUBLE }).traceHash;
    expect(run()).toBe(run());
  });
});
