import { type Observable, switchMap, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Pod, PodSpec } from "../../src/core/api.ts";
import { isRestored } from "../../src/core/pod/restoredMark.ts";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { createKubelet } from "../../src/kubelet.ts";
import type { CreateKubelet } from "../../src/sim/simKubelet.ts";
import type { SimNodeOptions } from "../../src/sim/simNodeOptions.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { containerOf } from "../support/pods.ts";
import { newPod } from "../support/simApi.ts";

const MINUTE_MS = 60_000;
const WAIT_MS = 5_000;
const NODE = "one";

/** A node that boots without its API server, and that server. */
function offlineNode(more: Partial<SimNodeOptions> = {}) {
  const scheduler = createHeapScheduler();
  const server = createSimApiServer({ clock: createSimClock(scheduler) });
  const node = createSimNode({
    seed: "offline",
    scheduler,
    api: server,
    config: { nodeName: NODE, offlineBoot: { waitMs: WAIT_MS } },
    programs: () => ({ ...runsForever, onTerm: { afterMs: 500, code: 0 } }),
    ...more,
  });
  server.put("nodes", { metadata: { name: NODE } });
  const cutPower = (): void => {
    server.setNetwork("refused");
    server.cutWatches();
    node.powerOff();
  };
  const boot = (): void => {
    node.restartRuntime();
    node.restartKubelet();
  };
  return { server, node, cutPower, boot };
}

const ref = (name: string) => ({ namespace: "default", name });
type Node = ReturnType<typeof offlineNode>;

function place({ server }: Pick<Node, "server">, name: string, spec: Partial<PodSpec> = {}): void {
  server.put("pods", { ...newPod(name), spec: { ...newPod(name).spec, ...spec } });
  server.schedule(ref(name), NODE);
}

const named = ({ node }: Node, name: string): Pod | undefined =>
  node.pods().find(({ metadata }) => metadata.name === name);

/** Number of log lines with this message and a field that contains a text. */
const said = ({ node }: Node, message: string, text: string): number =>
  node.telemetry.lines.filter((line) => line.message.includes(message) && JSON.stringify(line.fields).includes(text))
    .length;

describe("a boot without the API server", () => {
  it("runs the same pods after the wait, marked, and goes on with them when the server answers", () => {
    const world = offlineNode();
    const { server, node, cutPower, boot } = world;
    place(world, "web");
    node.runFor(MINUTE_MS);
    const uid = named(world, "web")?.metadata.uid;
    cutPower();
    boot();
    node.runFor(WAIT_MS - 1_000);
    const listed = () => node.kubelet?.queries.areHoldersKnown();
    const early = [node.running(), listed()];
    node.runFor(10_000);
    const restored = named(world, "web");
    const offline = [node.running(), listed()];
    server.setNetwork("up");
    node.runFor(2 * MINUTE_MS);
    const confirmed = named(world, "web");
    expect({
      early,
      offline,
      mark: restored && isRestored(restored),
      uids: [restored?.metadata.uid, confirmed?.metadata.uid],
      later: node.running(),
      marked: confirmed && isRestored(confirmed),
      phase: server.object("pods", ref("web"))?.status?.phase,
      violations: node.violations,
    }).toEqual({
      early: [[], false],
      offline: [["default/web/main#1"], true],
      mark: true,
      uids: [uid, uid],
      later: ["default/web/main#1"],
      marked: false,
      phase: "Running",
      violations: [],
    });
  });

  it("gives containers their ConfigMap, Secret, token and services from disk", () => {
    const world = offlineNode();
    const { server, node, cutPower, boot } = world;
    server.put("serviceaccounts", { metadata: ref("default") });
    server.put("services", {
      metadata: ref("shop"),
      spec: { clusterIP: "10.96.0.7", ports: [{ port: 80 }] },
    });
    server.put("configmaps", { metadata: ref("settings"), data: { COLOR: "blue" } });
    server.put("secrets", { metadata: ref("login"), data: { password: btoa("sesame") } });
    place(world, "web", {
      serviceAccountName: "default",
      containers: [
        containerOf({
          envFrom: [{ configMapRef: { name: "settings" } }],
          volumeMounts: [
            { name: "login", mountPath: "/login" },
            { name: "token", mountPath: "/token" },
          ],
        }),
      ],
      volumes: [
        { name: "login", secret: { secretName: "login" } },
        {
          name: "token",
          projected: { sources: [{ serviceAccountToken: { path: "token", expirationSeconds: 3_600 } }] },
        },
      ],
    });
    node.runFor(MINUTE_MS);
    cutPower();
    boot();
    node.runFor(MINUTE_MS);
    const environment = node.runtime
      .containers()
      .find(({ config }) => config.metadata?.attempt === 1)
      ?.config.envs.map(({ key, value }) => `${key}=${new TextDecoder().decode(value)}`);
    const volumes = `${node.config.directories.rootDir}/pods/${named(world, "web")?.metadata.uid}/volumes`;
    expect([
      environment?.filter((line) => line.startsWith("COLOR=") || line.startsWith("SHOP_SERVICE_HOST=")).toSorted(),
      node.files.read(`${volumes}/kubernetes.io~secret/login/password`),
      node.files.read(`${volumes}/kubernetes.io~projected/token/token`) !== undefined,
      node.running(),
      node.violations,
    ]).toEqual([["COLOR=blue", "SHOP_SERVICE_HOST=10.96.0.7"], "sesame", true, ["default/web/main#1"], []]);
  });

  it("keeps a pod waiting whose token has expired, says so, and starts it when the server issues another", () => {
    const world = offlineNode();
    const { server, node, cutPower, boot } = world;
    server.put("serviceaccounts", { metadata: ref("default") });
    place(world, "web", {
      serviceAccountName: "default",
      containers: [containerOf({ volumeMounts: [{ name: "token", mountPath: "/token" }] })],
      volumes: [
        {
          name: "token",
          projected: { sources: [{ serviceAccountToken: { path: "token", expirationSeconds: 600 } }] },
        },
      ],
    });
    node.runFor(MINUTE_MS);
    cutPower();
    node.runFor(30 * MINUTE_MS);
    boot();
    node.runFor(5 * MINUTE_MS);
    const { uid = "" } = named(world, "web")?.metadata ?? {};
    const offline = node.running();
    const told = said(world, "Couldn't update token", uid) > 0;
    server.setNetwork("up");
    node.runFor(5 * MINUTE_MS);
    expect([offline, told, node.running(), node.violations]).toEqual([[], true, ["default/web/main#1"], []]);
  });

  it("does not bring back a pod that has ended, and reports its end if the server has not heard of it", () => {
    const world = offlineNode();
    const { server, node, cutPower, boot } = world;
    place(world, "bounded", { activeDeadlineSeconds: 90 });
    node.runFor(MINUTE_MS);
    server.setNetwork("refused");
    server.cutWatches();
    node.runFor(MINUTE_MS);
    const phases = [named(world, "bounded")?.status?.phase, server.object("pods", ref("bounded"))?.status?.phase];
    cutPower();
    boot();
    node.runFor(2 * MINUTE_MS);
    const offline = [named(world, "bounded")?.status?.phase, ...node.running()];
    server.setNetwork("up");
    node.runFor(MINUTE_MS);
    const { phase, reason } = server.object("pods", ref("bounded"))?.status ?? {};
    expect([phases, offline, phase, reason, node.running(), node.violations]).toEqual([
      ["Failed", "Running"],
      ["Failed"],
      "Failed",
      "DeadlineExceeded",
      [],
      [],
    ]);
  });

  it("stops a pod that was deleted while the node was off, as soon as the server answers", () => {
    const world = offlineNode();
    const { server, node, cutPower, boot } = world;
    place(world, "gone");
    place(world, "stays");
    node.runFor(MINUTE_MS);
    cutPower();
    server.delete("pods", ref("gone"), { gracePeriodSeconds: 0 });
    boot();
    node.runFor(MINUTE_MS);
    const offline = node.running();
    server.setNetwork("up");
    node.runFor(2 * MINUTE_MS);
    const records = node.files.paths().filter((path) => path.includes("/offline/records/pod-"));
    expect([offline, node.running(), records.length, node.violations]).toEqual([
      ["default/gone/main#1", "default/stays/main#1"],
      ["default/stays/main#1"],
      1,
      [],
    ]);
  });

  it("runs pods that node affinity chose by labels of others, which nobody can tell it now", () => {
    const world = offlineNode();
    const { server, node, cutPower, boot } = world;
    server.put("nodes", { metadata: { name: NODE, labels: { zone: "a" } } });
    node.runFor(1_000);
    place(world, "zoned", { nodeSelector: { zone: "a" } });
    node.runFor(MINUTE_MS);
    cutPower();
    boot();
    node.runFor(MINUTE_MS);
    expect([node.running(), named(world, "zoned")?.status?.phase]).toEqual([["default/zoned/main#1"], "Running"]);
  });

  it("sets a damaged record aside, says why, and runs the others", () => {
    const world = offlineNode();
    const { node, cutPower, boot } = world;
    place(world, "one");
    place(world, "two");
    node.runFor(MINUTE_MS);
    cutPower();
    const directory = `${node.config.directories.rootDir}/offline`;
    const [damaged = "", other = ""] = node.files.paths().filter((path) => path.includes("/records/pod-"));
    node.files.put(damaged, "garbage");
    node.files.put(`${other}.new`, "half");
    node.files.put(`${directory}/records/notes.txt`, "mine");
    boot();
    node.runFor(MINUTE_MS);
    const left = node.files.paths().filter((path) => path.startsWith(`${directory}/`));
    const name = damaged.split("/").at(-1) ?? "";
    expect([
      node.running().length,
      node.files.read(`${directory}/aside/${name}`),
      left.filter((path) => path === damaged || path.endsWith(".new")),
      node.files.read(`${directory}/records/notes.txt`),
      said(world, "set aside", name),
      said(world, "is ignored", "notes.txt"),
    ]).toEqual([1, "garbage", [], "mine", 1, 1]);
  });

  it("keeps nothing and waits for the server when it is not asked for", () => {
    const scheduler = createHeapScheduler();
    const server = createSimApiServer({ clock: createSimClock(scheduler) });
    const node = createSimNode({ seed: "off", scheduler, api: server, config: { nodeName: NODE } });
    place({ server }, "web");
    node.runFor(MINUTE_MS);
    expect(node.files.paths().filter((path) => path.includes("offline"))).toEqual([]);
  });

  it("tells in the timeline that a pod came from disk, and when the server confirmed it", () => {
    const world = offlineNode();
    const { server, node, cutPower, boot } = world;
    place(world, "web");
    node.runFor(MINUTE_MS);
    cutPower();
    boot();
    node.runFor(MINUTE_MS);
    server.setNetwork("up");
    node.runFor(MINUTE_MS);
    const timeline = node.kubelet?.queries.timeline("default", "web");
    const entries = JSON.stringify(timeline);
    expect([entries.includes('"Restored"'), entries.includes('"Confirmed"')]).toEqual([true, true]);
  });

  it("reports the end of a pod only after the disk has it, however slow", () => {
    const slow: CreateKubelet = (config, ports) => {
      const { sealing, clock } = ports;
      const delayed = (call: Observable<string>) => timer(2_000, clock.scheduler).pipe(switchMap(() => call));
      const slowSealing = sealing && {
        ...sealing,
        seal: (name: string, text: string) => delayed(sealing.seal(name, text)),
      };
      return createKubelet(config, { ...ports, sealing: slowSealing });
    };
    const world = offlineNode({ createKubelet: slow });
    const { server, node } = world;
    place(world, "bounded", { activeDeadlineSeconds: 60 });
    node.runFor(30_000);
    node.runUntil(() => named(world, "bounded")?.status?.phase === "Failed", 2 * MINUTE_MS);
    const phaseOf = () => server.object("pods", ref("bounded"))?.status?.phase;
    node.runFor(1_500);
    const early = phaseOf();
    node.runFor(5_000);
    expect([early, phaseOf(), node.violations]).toEqual(["Running", "Failed", []]);
  });

  it("gives pods the claims whose volumes are on the node; others wait for the server", () => {
    const world = offlineNode();
    const { server, node, cutPower, boot } = world;
    const claimed = (name: string, spec: object): void => {
      const claim = server.put("persistentvolumeclaims", { metadata: ref(name), spec: { volumeName: name } });
      const claimRef = { uid: claim.metadata?.uid ?? "", ...ref(name) };
      server.put("persistentvolumes", { metadata: { name }, spec: { claimRef, ...spec } });
      server
        .client()
        .update("persistentvolumeclaims", { ...claim, status: { phase: "Bound" } }, { subresource: "status" })
        .subscribe();
      const volumes = [{ name: "data", persistentVolumeClaim: { claimName: name } }];
      const container = containerOf({ name: "main", volumeMounts: [{ name: "data", mountPath: "/data" }] });
      place(world, name, { containers: [container], volumes });
    };
    claimed("here", { hostPath: { path: "/disks/one", type: "DirectoryOrCreate" } });
    claimed("there", { nfs: { server: "nfs.example", path: "/x" } });
    node.runFor(MINUTE_MS);
    const before = node.running();
    cutPower();
    boot();
    node.runFor(5 * MINUTE_MS);
    const offline = node.running();
    server.setNetwork("up");
    node.runFor(5 * MINUTE_MS);
    expect({ before, offline, after: node.running().length, violations: node.violations }).toEqual({
      before: ["default/here/main#0", "default/there/main#0"],
      offline: ["default/here/main#1"],
      after: 2,
      violations: [],
    });
  });
});
