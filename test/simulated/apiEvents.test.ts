/** Events of a simulated node, as its API server has them. */
import { describe, expect, it } from "vitest";
import { createSimApiServer, type SimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import { exitsWith, runsForever } from "../../src/sim/runtime/simProgram.ts";
import { newPod } from "../support/simApi.ts";

const MINUTE_MS = 60_000;
const ref = { namespace: "default", name: "web" };

function nodeWithPod(programs = runsForever) {
  const scheduler = createHeapScheduler();
  const server = createSimApiServer({ clock: createSimClock(scheduler), latency: () => 2 });
  const node = createSimNode({
    seed: "events",
    scheduler,
    api: server,
    images: [simImage("registry.example/app:1")],
    programs: () => programs,
  });
  server.put("pods", newPod("web"));
  server.schedule(ref, node.config.nodeName);
  return {
    node,
    server,
    uid: () => server.object("pods", ref)?.metadata?.uid,
    reasons: () => ofPods(server).map(({ reason, count }) => `${reason} ${count}`),
  };
}

/** Events the node tells of itself are left out. */
const ofPods = (server: SimApiServer) =>
  server.objects("events").filter(({ involvedObject }) => involvedObject.kind === "Pod");

describe("events of a node of a cluster", () => {
  it("tell of a pod in the order in which things happened, once each", () => {
    const { node, server, uid, reasons } = nodeWithPod();
    node.runFor(MINUTE_MS);
    const events = ofPods(server);
    expect(reasons()).toEqual(["Pulled 1", "Created 1", "Started 1"]);
    expect(new Set(events.map(({ metadata }) => metadata.name)).size).toBe(3);
    expect(events.at(-1)).toMatchObject({
      metadata: { namespace: "default", name: expect.stringMatching(/^web\.[0-9a-f]{16}$/) },
      involvedObject: { kind: "Pod", ...ref, uid: uid(), apiVersion: "v1", fieldPath: "spec.containers{main}" },
      source: { component: "kubelet", host: node.config.nodeName },
      reportingComponent: "kubelet",
    });
  });

  it("are counted in one object when they repeat", () => {
    const { node, reasons } = nodeWithPod(exitsWith(1, 100));
    node.runFor(5 * MINUTE_MS);
    expect(reasons().filter((each) => each.startsWith("Created"))).toEqual(["Created 6"]);
  });

  it("arrive when the server is back, as they happened", () => {
    const { node, server, reasons } = nodeWithPod();
    node.runUntil(() => node.pods().length === 1, MINUTE_MS);
    server.setNetwork("refused");
    node.runFor(30_000);
    const during = reasons();
    server.setNetwork("up");
    node.runFor(15_000);
    expect([during, reasons()]).toEqual([[], ["Pulled 1", "Created 1", "Started 1"]]);
  });
});
