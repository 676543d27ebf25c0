/** A node's writes to its API server: pod statuses, final deletions, mirror pods. */
import { describe, expect, it } from "vitest";
import type { ApiPod } from "../../src/core/api/apiPodObjects.ts";
import { createSimApiServer, type SimApiServerOptions } from "../../src/sim/apiServer/simApiServer.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { simKubeletConfig } from "../../src/sim/simKubeletConfig.ts";
import { simMachine } from "../../src/sim/host/simMachine.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import type { SimObservation } from "../../src/sim/simObservation.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { openStatuses } from "../../src/sim/checkers/statusesArrive.ts";
import { containerOf } from "../support/pods.ts";
import { newPod } from "../support/simApi.ts";

const MINUTE_MS = 60_000;
const ref = (name: string) => ({ namespace: "default", name });

/** A node of one server whose requests take 10 ms, patches of the given duration, and the requests that the server received. */
function clusterNode({ hasNode = true, patchMs = 10 }: { readonly hasNode?: boolean; readonly patchMs?: number } = {}) {
  const scheduler = createHeapScheduler();
  const latency: SimApiServerOptions["latency"] = (verb) => (verb === "patch" ? patchMs : 10);
  const server = createSimApiServer({ clock: createSimClock(scheduler), latency });
  if (hasNode) server.put("nodes", { metadata: { name: "one" } });
  const seen: SimObservation[] = [];
  const { node: settings } = simKubeletConfig(simMachine(), { nodeName: "one" });
  const node = createSimNode({
    seed: "one",
    scheduler,
    api: server,
    // A node that may not register waits for somebody to do it.
    config: { nodeName: "one", node: { ...settings, register: hasNode }, sources: ["file", "api"] },
    images: [simImage("registry.example/app:1"), simImage("registry.example/app:2")],
    programs: () => ({ ...runsForever, onTerm: { afterMs: 500, code: 0 } }),
    watch: (observation) => void seen.push(observation),
  });
  const place = (name: string, metadata: ApiPod["metadata"] = {}): void => {
    server.put("pods", newPod(name, {}, metadata));
    server.schedule(ref(name), "one");
  };
  const pod = (name: string): ApiPod | undefined => server.object("pods", ref(name));
  return {
    node,
    server,
    place,
    pod,
    phase: (name: string) => pod(name)?.status?.phase,
    requests: () =>
      seen.flatMap((each) => (each.kind === "request" ? [`${each.verb} ${each.subject.replace("default/", "")}`] : [])),
    seen,
  };
}

const manifest = (image = "registry.example/app:1") => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default" },
  spec: { containers: [containerOf({ image })] },
});

describe("statuses", () => {
  it("arrive, and are sent in the very instant in which they change", () => {
    const { node, server, place, phase, seen } = clusterNode();
    place("web");
    node.runFor(5_000);
    const reported = seen.filter(({ kind }) => kind === "status");
    const firstPatchMs = seen.find((each) => each.kind === "request" && each.verb === "patch")?.atMs;
    expect([phase("web"), openStatuses(node), server.revision > 0]).toEqual(["Running", [], true]);
    expect(firstPatchMs).toBe(reported[0]?.atMs);
  });

  it("go out the newest alone where several came about while one was on its way", () => {
    const { node, place, pod, requests, seen } = clusterNode({ patchMs: 10_000 });
    place("web");
    node.runFor(15_000);
    const reported = seen.filter(({ kind }) => kind === "status").length;
    const [container] = pod("web")?.status?.containerStatuses ?? [];
    expect([reported > requests().length, requests(), container?.state?.waiting?.reason]).toEqual([
      true,
      ["patch web", "patch web"],
      "ContainerCreating",
    ]);
    node.runFor(MINUTE_MS);
    expect([pod("web")?.status?.phase, openStatuses(node)]).toEqual(["Running", []]);
  });

  it("never reach a pod that took the name of theirs before the node heard of it", () => {
    const { node, server, place, pod } = clusterNode();
    place("web");
    node.runFor(MINUTE_MS);
    const oldUid = pod("web")?.metadata?.uid;
    const restarts: unknown[] = [];
    server.changes$.subscribe(({ resource, object }) => {
      if (resource !== "pods" || object.metadata.uid === oldUid) return;
      const { containerStatuses = [] } = (object["status"] ?? {}) as NonNullable<ApiPod["status"]>;
      restarts.push(...containerStatuses.map(({ restartCount }) => restartCount));
    });
    // In one instant: the end of its container makes a status, while the server has another pod of the name already.
    node.kill("default/web/main");
    server.delete("pods", ref("web"), { gracePeriodSeconds: 0 });
    place("web");
    node.runFor(MINUTE_MS);
    const [container] = pod("web")?.status?.containerStatuses ?? [];
    expect([container?.ready, openStatuses(node), node.violations]).toEqual([true, [], []]);
    expect([...new Set(restarts)]).toEqual([0]);
  });

  it("leave conditions of others alone, and are restored when somebody else writes over them", () => {
    const { node, server, place, pod, requests } = clusterNode();
    place("web");
    node.runFor(MINUTE_MS);
    const { status = {} } = pod("web") ?? {};
    const gate = { type: "example.com/gate", status: "True", lastProbeTime: null, lastTransitionTime: null };
    const before = requests().length;
    server.setStatus(ref("web"), { ...status, conditions: [...(status.conditions ?? []), gate as never] });
    node.runFor(MINUTE_MS);
    const afterGate = requests().length;
    server.setStatus(ref("web"), { ...pod("web")?.status, phase: "Pending" });
    node.runFor(1_000);
    const has = pod("web")?.status?.conditions?.some(({ type }) => type === gate.type);
    expect([afterGate - before, requests().length - afterGate, has, openStatuses(node)]).toEqual([0, 1, true, []]);
  });

  it("are written at most every ten seconds when somebody else always writes over them", () => {
    const { node, server, place, pod, requests } = clusterNode();
    place("web");
    node.runFor(MINUTE_MS);
    const before = requests().length;
    server.changes$.subscribe({
      next: ({ resource, object }) => {
        const isWeb = resource === "pods" && object.metadata.name === "web";
        if (!isWeb || pod("web")?.status?.phase === "Pending") return;
        node.scheduler.schedule(() => server.setStatus(ref("web"), { ...pod("web")?.status, phase: "Pending" }));
      },
    });
    server.setStatus(ref("web"), { ...pod("web")?.status, phase: "Pending" });
    node.runFor(MINUTE_MS);
    expect(requests().length - before).toBe(6);
  });

  it("wait while the server is away, tried one at a time, and arrive when it is back", () => {
    const { node, server, place, requests } = clusterNode();
    const names = Array.from({ length: 20 }, (_, index) => `web-${index}`);
    for (const name of names) place(name);
    node.runFor(MINUTE_MS);
    server.setNetwork("refused");
    const before = requests().length;
    for (const name of names) node.kill(`default/${name}/main`);
    node.runFor(2 * MINUTE_MS);
    const during = requests().length - before;
    server.setNetwork("up");
    node.runFor(MINUTE_MS);
    expect([openStatuses(node), node.violations]).toEqual([[], []]);
    expect(during).toBeLessThan(40);
  });

  it("are not written again by the next kubelet when nothing has changed", () => {
    const { node, place, pod, requests } = clusterNode();
    for (const name of ["a", "b"]) place(name);
    node.putManifest("web.json", manifest());
    node.runFor(MINUTE_MS);
    const [before, statuses] = [requests().length, ["a", "b", "web-one"].map((name) => pod(name)?.status)];
    node.crashKubelet();
    node.runFor(MINUTE_MS);
    node.restartKubelet();
    node.runFor(5 * MINUTE_MS);
    expect(requests().length - before).toBe(0);
    expect(["a", "b", "web-one"].map((name) => pod(name)?.status)).toEqual(statuses);
  });
});

describe("deletion", () => {
  it("ends with the kubelet removing the object, once the pod has stopped and said so", () => {
    const { node, server, place, pod, seen } = clusterNode();
    place("web");
    node.runFor(5_000);
    server.delete("pods", ref("web"), { gracePeriodSeconds: 30 });
    node.runFor(300);
    const whileStopping = [pod("web")?.status?.phase, node.running()];
    node.runFor(5_000);
    const last = seen.filter((each) => each.kind === "object").at(-1);
    const ended = last?.kind === "object" ? last.before?.status : undefined;
    expect([whileStopping, pod("web"), node.pods(), ended?.phase]).toEqual([
      ["Running", ["default/web/main#0"]],
      undefined,
      [],
      "Succeeded",
    ]);
  });

  it("leaves a new pod of that name alone", () => {
    const { node, server, place, phase, requests } = clusterNode();
    place("web");
    node.runFor(5_000);
    server.delete("pods", ref("web"), { gracePeriodSeconds: 30 });
    node.runFor(100);
    server.delete("pods", ref("web"), { gracePeriodSeconds: 0 });
    place("web");
    node.runFor(MINUTE_MS);
    expect([phase("web"), requests().filter((each) => each.startsWith("delete")), openStatuses(node)]).toEqual([
      "Running",
      [],
      [],
    ]);
  });

  it("is requested once for a pod with finalizers", () => {
    const { node, server, place, pod, requests } = clusterNode();
    place("web", { finalizers: ["example.com/hold"] });
    node.runFor(5_000);
    server.delete("pods", ref("web"), { gracePeriodSeconds: 1 });
    node.runFor(5 * MINUTE_MS);
    const held = [pod("web")?.status?.phase, requests().filter((each) => each === "delete web").length];
    server.put("pods", { metadata: { ...ref("web"), finalizers: null as never } });
    node.runFor(MINUTE_MS);
    expect([held, pod("web"), node.pods()]).toEqual([["Succeeded", 1], undefined, []]);
  });
});

describe("mirror pods", () => {
  const mirrors = (server: ReturnType<typeof clusterNode>["server"]) =>
    server.objects("pods").map(({ metadata }) => `${metadata?.name} of ${metadata?.ownerReferences?.[0]?.name}`);

  it("come with their static pod, tell its status, and go with it", () => {
    const { node, server, phase } = clusterNode();
    node.putManifest("web.json", manifest());
    node.runFor(MINUTE_MS);
    const there = [mirrors(server), phase("web-one"), node.running(), openStatuses(node)];
    node.dropManifest("web.json");
    node.runFor(MINUTE_MS);
    expect([there, mirrors(server)]).toEqual([[["web-one of one"], "Running", ["default/web-one/main#0"], []], []]);
  });

  it("wait for the node to be registered", () => {
    const { node, server } = clusterNode({ hasNode: false });
    node.putManifest("web.json", manifest());
    node.runFor(MINUTE_MS);
    const without = [mirrors(server), node.running()];
    server.put("nodes", { metadata: { name: "one" } });
    node.runFor(15_000);
    expect([without, mirrors(server)]).toEqual([[[], ["default/web-one/main#0"]], ["web-one of one"]]);
  });

  it("come again when they are deleted, at once or gracefully", () => {
    const { node, server, pod, phase } = clusterNode();
    node.putManifest("web.json", manifest());
    node.runFor(MINUTE_MS);
    const uids = [pod("web-one")?.metadata?.uid];
    for (const gracePeriodSeconds of [0, 30]) {
      server.delete("pods", ref("web-one"), { gracePeriodSeconds });
      node.runFor(1_000);
      uids.push(pod("web-one")?.metadata?.uid);
    }
    expect([new Set(uids).size, phase("web-one"), node.running()]).toEqual([3, "Running", ["default/web-one/main#0"]]);
  });

  it("are recreated for another version of the manifest", () => {
    const { node, pod } = clusterNode();
    node.putManifest("web.json", manifest());
    node.runFor(MINUTE_MS);
    node.putManifest("web.json", manifest("registry.example/app:2"));
    node.runFor(2 * MINUTE_MS);
    const { metadata, spec, status } = pod("web-one") ?? {};
    const [own] = node.pods();
    expect([spec?.containers[0]?.image, status?.phase, metadata?.annotations?.["kubernetes.io/config.mirror"]]).toEqual(
      ["registry.example/app:2", "Running", own?.metadata.uid],
    );
  });

  it("stay while the next kubelet waits for its runtime", () => {
    const { node, pod } = clusterNode();
    node.putManifest("web.json", manifest());
    node.runFor(MINUTE_MS);
    const uid = pod("web-one")?.metadata?.uid;
    node.crashKubelet();
    node.crashRuntime("stay");
    node.restartKubelet();
    node.runFor(MINUTE_MS);
    node.restartRuntime();
    node.runFor(MINUTE_MS);
    expect([pod("web-one")?.metadata?.uid, node.running(), openStatuses(node)]).toEqual([
      uid,
      ["default/web-one/main#0"],
      [],
    ]);
  });

  it("are removed by the next kubelet if their static pods were removed while none ran", () => {
    const { node, server } = clusterNode();
    node.putManifest("web.json", manifest());
    node.runFor(MINUTE_MS);
    node.crashKubelet();
    node.dropManifest("web.json");
    node.restartKubelet();
    node.runFor(MINUTE_MS);
    expect([mirrors(server), node.running()]).toEqual([[], []]);
  });
});
