import { describe, expect, it } from "vitest";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import type { SimObservation } from "../../src/sim/simObservation.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { containerOf, podOf } from "../support/pods.ts";
import { newPod } from "../support/simApi.ts";
import { manifestOf } from "../support/simWorkload.ts";

const APP = "registry.example/app:1";
const web = manifestOf("web", { dnsPolicy: "Default", containers: [{ name: "app", image: APP }] });
const options = { seed: "node", images: [simImage(APP)], programs: () => runsForever, latency: () => 2 } as const;
const API_POD = podOf({ name: "api", spec: { dnsPolicy: "Default", containers: [containerOf({ name: "app" })] } });

describe("createSimNode", () => {
  it("traces the life of a pod: calls, changes, statuses, events, and actions of the driver", () => {
    const node = createSimNode({ ...options, manifests: { "web.yaml": web } });
    node.runFor(1_000);
    const kinds = ["call", "change", "status"];
    const reported = node.trace.lines.filter((line) => kinds.includes(line.slice(13, 20).trim()));
    const withoutIds = reported.map((line) => line.slice(13).replace(/ [0-9a-f]{13}$/, ""));
    expect(withoutIds).toEqual([
      "call    - GetContainerEvents",
      "status  demo/web-sim-node Pending app=ContainerCreating#0",
      "call    demo/web-sim-node RunPodSandbox",
      "change  demo/web-sim-node sandbox created",
      "call    demo/web-sim-node/app#0 CreateContainer",
      "change  demo/web-sim-node/app#0 container created",
      "call    demo/web-sim-node/app#0 StartContainer",
      "change  demo/web-sim-node/app#0 container started",
      "status  demo/web-sim-node Pending app=ContainerCreating#0",
      "status  demo/web-sim-node Running app=running+#0",
    ]);
  });

  it("runs pods of a control plane beside static pods, and removes them", () => {
    const node = createSimNode({ ...options, manifests: { "web.yaml": web }, pods: [API_POD] });
    node.runFor(1_000);
    const before = node.running();
    node.dropPod("uid-1");
    node.runFor(1_000);
    node.putPod({ ...API_POD, metadata: { ...API_POD.metadata, uid: "uid-2" } });
    node.dropManifest("web.yaml");
    node.runFor(1_000);
    expect([before, node.running(), node.pods().map(({ metadata }) => metadata.uid)]).toEqual([
      ["demo/api/app#0", "demo/web-sim-node/app#0"],
      ["demo/api/app#0"],
      ["uid-2"],
    ]);
  });

  it("injects faults on request, now or at a later instant", () => {
    const node = createSimNode({ ...options, manifests: { "web.yaml": web } });
    node.at(5_000, () => node.kill("demo/web-sim-node/app"));
    expect(node.runUntil(() => node.running().includes("demo/web-sim-node/app#1"), 10_000)).toBe(true);
    const restartedAt = node.clock.monotonicMs();
    expect([restartedAt > 5_000, restartedAt < 5_100, node.kill("demo/none/app")]).toEqual([true, true, false]);
    expect(node.killSandbox("demo/web-sim-node")).toBe(true);
    expect(node.runUntil(() => node.running().includes("demo/web-sim-node/app#2"), 30_000)).toBe(true);
    expect(() => node.at(0, () => {})).toThrow("in the past");
  });

  it("reports no pods while the kubelet is down, and the same pods after its restart", () => {
    const node = createSimNode({ ...options, manifests: { "web.yaml": web } });
    node.runFor(1_000);
    const [pods, ids] = [node.pods(), node.runtime.containers().map(({ id }) => id)];
    node.crashKubelet();
    node.runFor(60_000);
    expect([node.pods(), node.kubelet, node.running()]).toEqual([[], undefined, ["demo/web-sim-node/app#0"]]);
    node.restartKubelet();
    node.runFor(1_000);
    expect(node.runtime.containers().map(({ id }) => id)).toEqual(ids);
    const reported = (of: typeof pods) =>
      of.map(({ status }) => [status?.phase, status?.startTime, status?.containerStatuses]);
    expect(reported(node.pods())).toEqual(reported(pods));
  });

  it("records the findings of checkers and passes them all observations in order", () => {
    const kinds: SimObservation["kind"][] = [];
    const checker = {
      name: "noStarts",
      check(observation: SimObservation) {
        kinds.push(observation.kind);
        return observation.kind === "call" && observation.rpc === "StartContainer" ? "a start" : undefined;
      },
    };
    const node = createSimNode({ ...options, manifests: { "web.yaml": web }, checkers: [checker] });
    node.runFor(1_000);
    expect([node.violations.map(({ checker: name, message }) => [name, message]), kinds[0]]).toEqual([
      [["noStarts", "a start"]],
      "kubelet",
    ]);
  });

  it("stops when virtual time does not advance", () => {
    const node = createSimNode(options);
    const again = (): void => void node.scheduler.schedule(again);
    again();
    expect(() => node.runFor(1_000)).toThrow("time stands still at 0 ms of the node of seed node");
  });
});

it("observes pods from disk only before the API server has listed its pods", () => {
  const scheduler = createHeapScheduler();
  const server = createSimApiServer({ clock: createSimClock(scheduler) });
  const listed: (readonly string[])[] = [];
  const node = createSimNode({
    ...{ seed: "disk", scheduler, api: server, config: { nodeName: "one", offlineBoot: { waitMs: 0 } } },
    watch: (seen) => {
      if (seen.kind === "wanted" && seen.source === "api") listed.push(seen.pods.map(({ metadata }) => metadata.name));
    },
  });
  server.put("nodes", { metadata: { name: "one" } });
  for (const name of ["a", "b"]) server.put("pods", newPod(name, { nodeName: "one" }));
  node.runFor(60_000);
  node.powerOff();
  server.delete("pods", { namespace: "default", name: "b" }, { gracePeriodSeconds: 0 });
  listed.length = 0;
  node.restartKubelet();
  // The registry takes pods once the runtime is known.
  node.runFor(5_000);
  node.restartRuntime();
  node.runFor(60_000);
  expect([...new Set(listed.map((names) => names.join()))]).toEqual(["a"]);
});
