import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import * as cri from "../../../src/gen/cri.ts";
import { createPrng } from "../../../src/sim/prng.ts";
import type { SimAction } from "../../../src/sim/runtime/simCall.ts";
import { imageNotFound, simImage } from "../../../src/sim/runtime/simImageCalls.ts";
import { exitsWith, ignoresTerm, runsForever } from "../../../src/sim/runtime/simProgram.ts";
import { usualLatency } from "../../../src/sim/runtime/simRuntime.ts";
import { createRuntimeBench } from "../../support/runtimeBench.ts";

const stop = (containerId: string, seconds: number) =>
  cri.StopContainerRequest.create({ containerId, timeout: BigInt(seconds) });
const lost = kubeletError("Unavailable", "connection reset");

describe("createSimRuntime", () => {
  it("reports every step of a pod's life in order, in its history and as events", () => {
    const node = createRuntimeBench({ programs: () => exitsWith(3, 100), eventLatencyMs: 5 });
    const events = node.watch(node.runtime.getContainerEvents({}));
    const sandbox = node.newSandbox("web");
    const container = node.newContainer(sandbox, "main");
    node.start(container);
    node.scheduler.advanceTo(500);
    node.run(node.runtime.removeContainer({ containerId: container }));
    node.run(node.runtime.removePodSandbox({ podSandboxId: sandbox }));
    node.scheduler.runUntilIdle(100);
    const imageId = expect.stringMatching(/^sha256:/);
    const exit = { atMs: 105, kind: "container exited", exitCode: 3, reason: "Error" };
    expect(node.changes).toEqual([
      { atMs: 1, kind: "sandbox created", id: sandbox, podUid: "web-uid", name: "ns/web" },
      { atMs: 3, kind: "container created", id: container, podUid: "web-uid", name: "ns/web/main#0", imageId },
      { atMs: 5, kind: "container started", id: container, podUid: "web-uid", name: "ns/web/main#0" },
      { ...exit, id: container, podUid: "web-uid", name: "ns/web/main#0" },
      { atMs: 501, kind: "container removed", id: container, podUid: "web-uid", name: "ns/web/main#0" },
      { atMs: 503, kind: "sandbox stopped", id: sandbox, podUid: "web-uid", name: "ns/web" },
      { atMs: 503, kind: "sandbox removed", id: sandbox, podUid: "web-uid", name: "ns/web" },
    ]);
    expect(events.values.map((e) => [e.containerId === sandbox ? "sandbox" : "main", e.containerEventType])).toEqual([
      ["sandbox", 0],
      ["sandbox", 1],
      ["main", 0],
      ["main", 1],
      ["main", 2],
      ["main", 3],
      ["sandbox", 2],
      ["sandbox", 3],
    ]);
    expect(events.values.map((e) => e.containersStatuses.map((status) => status.state))).toEqual([
      [],
      [],
      [0],
      [1],
      [2],
      [],
      [],
      [],
    ]);
    events.stop();
    expect(node.scheduler.pending).toBe(0);
  });

  it("shows an exit with code, reason and wall-clock nanoseconds, also across a step of the clock", () => {
    const node = createRuntimeBench({ programs: () => exitsWith(1, 1_000) });
    const container = node.newContainer(node.newSandbox("a"), "main");
    node.start(container);
    node.clock.stepWallBy(-60_000);
    node.scheduler.advanceTo(2_000);
    const status = node.statusOf(container);
    expect([status?.state, status?.exitCode, status?.reason]).toEqual([2, 1, "Error"]);
    expect(Number((status?.finishedAt ?? 0n) - (status?.startedAt ?? 0n))).toBe(-59_000_000_000);
  });

  it("ends a stop when the program obeys TERM, or KILLs it after the grace period", () => {
    const node = createRuntimeBench({
      programs: ({ container }) => (container.metadata?.name === "deaf" ? ignoresTerm : runsForever),
    });
    const sandbox = node.newSandbox("a");
    const [polite, deaf] = ["polite", "deaf"].map((name) => node.newContainer(sandbox, name)) as [string, string];
    node.start(polite);
    node.start(deaf);
    const at = node.scheduler.now();
    const stops = [polite, deaf].map((id) => node.watch(node.runtime.stopContainer(stop(id, 30))));
    node.scheduler.runUntilIdle(100);
    expect(stops.map(({ end }) => end)).toEqual([{ atMs: at + 7 }, { atMs: at + 30_004 }]);
    expect([polite, deaf].map((id) => node.statusOf(id)?.exitCode)).toEqual([143, 137]);
  });

  it("does not KILL when the caller of a stop has gone", () => {
    const node = createRuntimeBench({ programs: () => ignoresTerm });
    const container = node.newContainer(node.newSandbox("a"), "main");
    node.start(container);
    const stopping = node.watch(node.runtime.stopContainer(stop(container, 10)));
    node.scheduler.advanceTo(5_000);
    stopping.stop();
    node.scheduler.advanceTo(60_000);
    expect(node.statusOf(container)?.state).toBe(cri.ContainerState.CONTAINER_RUNNING);
    expect(node.scheduler.pending).toBe(0);
  });

  it("completes an abandoned request only when it is set to go on", () => {
    const created = (goesOn: boolean) => {
      const node = createRuntimeBench({ goesOn: () => goesOn });
      const metadata = { name: "web", namespace: "ns", uid: "web-uid", attempt: 0 };
      const request = cri.RunPodSandboxRequest.create({ config: cri.PodSandboxConfig.create({ metadata }) });
      node.watch(node.runtime.runPodSandbox(request)).stop();
      node.scheduler.runUntilIdle(10);
      return node.sandboxes().length;
    };
    expect([created(true), created(false)]).toEqual([1, 0]);
  });

  it("breaks the open event streams, and serves those opened later", () => {
    const node = createRuntimeBench();
    const first = node.watch(node.runtime.getContainerEvents({}));
    node.breakEventStreams("connection reset");
    const second = node.watch(node.runtime.getContainerEvents({}));
    node.newSandbox("web");
    node.scheduler.runUntilIdle(10);
    expect([first.end?.error, first.values.length, second.end, second.values.length]).toEqual([
      kubeletError("Unavailable", "connection reset"),
      0,
      undefined,
      2,
    ]);
    second.stop();
  });

  it("gives each sandbox an address and frees it when it is stopped", () => {
    const node = createRuntimeBench();
    const ip = (id: string) => node.sandboxes().find((sandbox) => sandbox.id === id)?.ip;
    const [a, b] = [node.newSandbox("a"), node.newSandbox("b")];
    expect([ip(a), ip(b)]).toEqual(["10.1.0.2", "10.1.0.3"]);
    node.run(node.runtime.stopPodSandbox({ podSandboxId: a }));
    expect([ip(a), ip(node.newSandbox("c"))]).toEqual(["", "10.1.0.2"]);
  });

  it("rejects a second sandbox or container of one name and attempt", () => {
    const node = createRuntimeBench();
    const sandbox = node.newSandbox("a");
    expect(() => node.newSandbox("a")).toThrow(expect.objectContaining({ code: "Unknown" }));
    node.newSandbox("a", 1);
    node.newContainer(sandbox, "main");
    expect(() => node.newContainer(sandbox, "main")).toThrow(expect.objectContaining({ code: "Unknown" }));
  });

  it("lets accidents happen: a killed sandbox, a killed process, a runtime that is not ready", () => {
    const node = createRuntimeBench();
    const sandbox = node.newSandbox("a");
    const container = node.newContainer(sandbox, "main");
    node.start(container);
    node.killSandbox(sandbox);
    node.endContainer(container, { afterMs: 10, code: 137, reason: "OOMKilled" });
    node.endContainer(container, { afterMs: 20, code: 0 });
    node.setCondition("NetworkReady", "cni plugin not initialized");
    node.scheduler.runUntilIdle(10);
    expect(node.sandboxes().map(({ ready, ip }) => [ready, ip])).toEqual([[false, "10.1.0.2"]]);
    expect(node.containers().map(({ phase }) => phase)).toMatchObject([
      { kind: "exited", exitCode: 137, reason: "OOMKilled" },
    ]);
    expect(node.run(node.runtime.status({ verbose: false })).status?.conditions).toEqual([
      { type: "RuntimeReady", status: true, reason: "", message: "" },
      {
        type: "NetworkReady",
        status: false,
        reason: "NetworkPluginNotReady",
        message: "cni plugin not initialized",
      },
    ]);
    expect(() => node.newSandbox("b")).toThrow(expect.objectContaining({ code: "Unknown" }));
  });

  it("pulls from its registry, once per name present, and not when the caller leaves", () => {
    const image = simImage("busybox");
    const node = createRuntimeBench({
      registry: (name) => (name.startsWith("busybox") ? { ms: 800, image } : { ms: 30, error: imageNotFound(name) }),
    });
    const pull = (name: string) => node.images.pullImage(cri.PullImageRequest.create({ image: { image: name } }));
    const isHere = (name: string) =>
      node.run(node.images.imageStatus(cri.ImageStatusRequest.create({ image: { image: name } }))).image?.id;
    const left = node.watch(pull("busybox"));
    node.scheduler.advanceTo(400);
    left.stop();
    node.scheduler.advanceTo(5_000);
    expect(isHere("docker.io/library/busybox:latest")).toBeUndefined();
    expect(node.run(pull("busybox:latest"))).toEqual({ imageRef: image.id });
    expect([isHere("busybox"), isHere(image.id), isHere(image.repoDigests[0] ?? "")]).toEqual(Array(3).fill(image.id));
    expect(() => node.run(pull("nothing"))).toThrow(expect.objectContaining({ code: "NotFound" }));
  });

  it("leaves a termination message where the kubelet mounted its file", () => {
    const written: (readonly string[])[] = [];
    const node = createRuntimeBench({
      programs: () => ({ ...exitsWith(1, 5), terminationMessage: "out of luck" }),
      writeHostFile: (path, content) => written.push([path, content]),
    });
    const container = node.newContainer(node.newSandbox("a"), "main", {
      annotations: { "io.kubernetes.container.terminationMessagePath": "/dev/termination-log" },
      mounts: [{ containerPath: "/dev/termination-log", hostPath: "/kubelet/pods/a/main/1" }],
    });
    node.start(container);
    node.scheduler.runUntilIdle(10);
    expect(written).toEqual([["/kubelet/pods/a/main/1", "out of luck"]]);
  });

  it("ends a command with its container, or at its timeout", () => {
    const node = createRuntimeBench({ programs: () => ({ exec: () => ({ afterMs: 60_000, code: 0 }) }) });
    const container = node.newContainer(node.newSandbox("a"), "main");
    node.start(container);
    const at = node.scheduler.now();
    const exec = (timeout: bigint) =>
      node.watch(node.runtime.execSync(cri.ExecSyncRequest.create({ containerId: container, cmd: ["x"], timeout })));
    const [timed, killed] = [exec(2n), exec(0n)];
    node.endContainer(container, { afterMs: 5_000, code: 0 });
    node.scheduler.runUntilIdle(100);
    expect(timed.end).toMatchObject({ atMs: at + 2_002, error: { code: "DeadlineExceeded" } });
    expect(killed.values.map(({ exitCode }) => exitCode)).toEqual([137]);
    expect(killed.end).toEqual({ atMs: at + 5_001 });
  });

  it("applies the interceptor between request and effect", () => {
    const actions: SimAction[] = [
      { kind: "fail", error: lost },
      { kind: "loseReply", error: lost },
      { kind: "hang" },
      { kind: "delay", ms: 40 },
    ];
    const node = createRuntimeBench({
      intercept: (rpc) => (rpc === "RunPodSandbox" ? (actions.shift() ?? { kind: "proceed" }) : { kind: "proceed" }),
      defaultDeadlineMs: 1_000,
    });
    const create = (name: string) => {
      const metadata = { name, namespace: "ns", uid: name, attempt: 0 };
      return node.watch(node.runtime.runPodSandbox(cri.RunPodSandboxRequest.create({ config: { metadata } })));
    };
    const outcomes = ["failed", "lost", "hung", "slow", "fine"].map(create);
    node.scheduler.runUntilIdle(100);
    expect(outcomes.map(({ end, values }) => [end?.atMs, end?.error, values.length])).toEqual([
      [2, lost, 0],
      [2, lost, 0],
      [2_000, kubeletError("DeadlineExceeded", "RunPodSandbox: no answer within 2000 ms"), 0],
      [42, undefined, 1],
      [2, undefined, 1],
    ]);
    expect(node.changes.map(({ name }) => name)).toEqual(["ns/lost", "ns/fine", "ns/slow"]);
  });

  it("answers Unimplemented to calls that containerd lacks", () => {
    const node = createRuntimeBench({ modern: false });
    const outcomes = [
      node.watch(node.runtime.exec(cri.ExecRequest.create())),
      node.watch(node.runtime.streamContainers(cri.StreamContainersRequest.create())),
      node.watch(node.runtime.getContainerEvents({})),
      node.watch(node.images.streamImages(cri.StreamImagesRequest.create())),
    ];
    expect(outcomes.map(({ end }) => end)).toMatchObject(Array(4).fill({ error: { code: "Unimplemented" } }));
  });

  it("reports the usage of the programs", () => {
    const node = createRuntimeBench({ programs: () => ({ usage: { cpuMilli: 250, memoryBytes: 1024 } }) });
    const sandbox = node.newSandbox("a");
    for (const name of ["one", "two"]) node.start(node.newContainer(sandbox, name));
    node.scheduler.advanceTo(4_000);
    const { stats } = node.run(node.runtime.podSandboxStats({ podSandboxId: sandbox }));
    const list = node.run(node.runtime.listContainerStats(cri.ListContainerStatsRequest.create()));
    expect(stats?.linux?.memory?.workingSetBytes?.value).toBe(2048n);
    expect(stats?.linux?.cpu?.usageNanoCores?.value).toBe(500_000_000n);
    expect(list.stats.map(({ attributes }) => attributes?.metadata?.name)).toEqual(["one", "two"]);
  });

  it("repeats a run from its seed, instant by instant", () => {
    const play = (seed: string) => {
      const prng = createPrng(seed);
      const node = createRuntimeBench({
        prng,
        latency: usualLatency(prng.fork("latency")),
        programs: () => exitsWith(0, prng.int(1, 5_000)),
      });
      for (let pod = 0; pod < 10; pod += 1) {
        node.start(node.newContainer(node.newSandbox(`pod-${pod}`), "main"));
      }
      node.scheduler.runUntilIdle(10_000);
      return node.changes;
    };
    expect(play("a")).toEqual(play("a"));
    expect(play("a")).not.toEqual(play("b"));
    expect(play("a").length).toBe(40);
  });
});
