import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runEmbeddedRuntime } from "../../src/embeddedRuntime/runEmbeddedRuntime.ts";
import { ContainerState, PodSandboxState } from "../../src/gen/cri.ts";
import { waitFor } from "../support/waitFor.ts";
import type { RuntimeClient } from "./embeddedRuntimeClient.ts";
import {
  processesMentioning,
  runPod,
  sh,
  startRuntime,
  startRuntimeProcess,
  type TestPod,
  temporaryDir,
} from "./embeddedRuntimeSetup.ts";

const statusOf = async (client: RuntimeClient, containerId: string): Promise<object | undefined> =>
  (await client.call("containerStatus", { containerId })).status;
const COUNTING = "i=0; while :; do i=$((i+1)); echo $i; sleep 0.01; done";
const expectNoGap = (log: ReturnType<TestPod["log"]>): void =>
  expect(log.map(([, , text]) => text)).toEqual(log.map((_, index) => String(index + 1)));

describe("embedded runtime: killed and started again", () => {
  it("finds sandboxes and containers as they were and goes on with the log without a gap", async () => {
    const dir = temporaryDir();
    const first = await startRuntimeProcess(dir);
    const pod = await runPod(first.client, dir);
    const running = await pod.start("running", sh(COUNTING));
    const created = await pod.create("created", sh("exit 0"));
    const ended = await pod.start("ended", sh("exit 3"));
    await first.client.events.of(ended, "CONTAINER_STOPPED_EVENT");
    await waitFor("some output", () => pod.log("running").length > 5);
    const all = [running, created, ended];
    const sandbox = { podSandboxId: pod.sandboxId };
    const before = await Promise.all(all.map((id) => statusOf(first.client, id)));
    const { status: sandboxBefore } = await first.client.call("podSandboxStatus", sandbox);
    await first.kill();
    const logged = pod.log("running").length;

    const second = await startRuntimeProcess(dir);
    expect(await Promise.all(all.map((id) => statusOf(second.client, id)))).toEqual(before);
    expect((await second.client.call("podSandboxStatus", sandbox)).status).toEqual(sandboxBefore);
    await waitFor("more output", () => pod.log("running").length > logged + 5);
    expectNoGap(pod.log("running"));
    await second.client.call("startContainer", { containerId: created });
    await second.client.call("stopContainer", { containerId: running, timeout: 5n });
    expect([await statusOf(second.client, running), await statusOf(second.client, created)]).toMatchObject([
      { state: ContainerState.CONTAINER_EXITED, exitCode: 143 },
      { exitCode: 0 },
    ]);
  });

  it("knows exit code, time and last words of what ended meanwhile, and kills what that left behind", async () => {
    const dir = temporaryDir();
    const first = await startRuntimeProcess(dir);
    const pod = await runPod(first.client, dir);
    const gate = path.join(dir, "gate");
    const script = `sleep 1000 & echo before; until [ -e ${gate} ]; do sleep 0.01; done; echo last words; exit 6`;
    const id = await pod.start("main", sh(script));
    await waitFor("its first words", () => pod.log("main").length === 1);
    await first.kill();
    const downAt = BigInt(Date.now()) * 1_000_000n;
    writeFileSync(gate, "");
    const exitFile = path.join(dir, "state", "containers", id, "exit");
    await waitFor("its exit", () => existsSync(exitFile) && readFileSync(exitFile, "utf8") === "6\n");
    const upAt = BigInt(Date.now()) * 1_000_000n;

    const second = await startRuntimeProcess(dir);
    const { status } = await second.client.call("containerStatus", { containerId: id });
    expect(status).toMatchObject({ state: ContainerState.CONTAINER_EXITED, exitCode: 6, reason: "Error" });
    const tolerance = 20_000_000n;
    const { finishedAt = 0n } = status ?? {};
    expect([finishedAt > downAt - tolerance, finishedAt < upAt + tolerance]).toEqual([true, true]);
    expect(pod.log("main").map(([, , text]) => text)).toEqual(["before", "last words"]);
    const containerDir = path.join(dir, "state", "containers", id);
    await waitFor("the leftovers to be gone", () => processesMentioning(containerDir).length === 0);
  });

  it("counts what was killed together with its supervisor as killed, and kills the rest of it", async () => {
    const dir = temporaryDir();
    const first = await startRuntimeProcess(dir);
    const pod = await runPod(first.client, dir);
    const id = await pod.start("main", {
      ...sh("sleep 1000; exit 1"),
      envs: [{ key: "M", value: Buffer.from(`${dir}/mark`) }],
    });
    const { info } = await first.client.call("containerStatus", { containerId: id, verbose: true });
    await first.kill();
    process.kill((JSON.parse(info["info"] ?? "") as { pid: number }).pid, "SIGKILL");
    const second = await startRuntimeProcess(dir);
    expect(await statusOf(second.client, id)).toMatchObject({
      state: ContainerState.CONTAINER_EXITED,
      exitCode: 137,
      reason: "Error",
    });
    await waitFor("its main process to be gone", () => processesMentioning(`${dir}/mark`).length === 0);
  });

  it("kills commands of ExecSync that nobody waits for any more", async () => {
    const dir = temporaryDir();
    const first = await startRuntimeProcess(dir);
    const pod = await runPod(first.client, dir);
    const containerId = await pod.start("main", sh("sleep 1000"));
    const cmd = ["sh", "-c", `: ${dir}/exec-mark; sleep 1000; :`];
    const refused = first.client.refusal("execSync", { containerId, cmd });
    const execs = path.join(dir, "state", "containers", containerId, "execs");
    await waitFor("the exec to be noted", () => readdirSync(execs).length === 1);
    await first.kill();
    await refused;
    const second = await startRuntimeProcess(dir);
    await waitFor("the exec to be gone", () => processesMentioning(`${dir}/exec-mark`).length === 0);
    expect(await statusOf(second.client, containerId)).toMatchObject({ state: ContainerState.CONTAINER_RUNNING });
  });

  it("survives a kill at any moment of a burst: every container is there, consistent and can be removed", async () => {
    const dir = temporaryDir();
    const first = await startRuntimeProcess(dir);
    const pod = await runPod(first.client, dir);
    const begun = new Set<string>();
    const burst = Array.from({ length: 30 }, async (_, index) => {
      const id = await pod.create(`c${index}`, sh("sleep 1000"));
      begun.add(id);
      await first.client.call("startContainer", { containerId: id });
    });
    const all = Promise.allSettled(burst);
    await waitFor("half of them", () => begun.size >= 15);
    await first.kill();
    await all;
    const second = await startRuntimeProcess(dir);
    const { containers } = await second.client.call("listContainers", {});
    const known = new Set(containers.map(({ id }) => id));
    expect([...begun].filter((id) => !known.has(id))).toEqual([]);
    await second.client.call("removePodSandbox", { podSandboxId: pod.sandboxId });
    await waitFor(
      "every process to be gone",
      () => processesMentioning(path.join(dir, "state/containers")).length === 0,
    );
    expect(readdirSync(path.join(dir, "state", "containers"))).toEqual([]);
  });
});

describe("embedded runtime: state directory and socket", () => {
  it("reports a state that cannot be written, goes on, and finds it out again after a restart", async () => {
    const dir = temporaryDir();
    const first = await startRuntime(dir);
    const pod = await runPod(first.client, dir);
    const id = await pod.create("main", sh("exit 3"));
    const inTheWay = path.join(dir, "state", "containers", id, "state.json.tmp");
    mkdirSync(inTheWay);
    await first.client.call("startContainer", { containerId: id });
    await first.client.events.of(id, "CONTAINER_STOPPED_EVENT");
    const exited = { state: ContainerState.CONTAINER_EXITED, exitCode: 3, reason: "Error" };
    expect(await statusOf(first.client, id)).toMatchObject(exited);
    const report = `container ${id}: its state cannot be written: EISDIR: illegal operation on a directory, open '${inTheWay}'`;
    expect(first.reports).toEqual([report, report]);
    first.client.close();
    await first.runtime.close();
    rmSync(inTheWay, { recursive: true });
    const { client } = await startRuntime(dir);
    expect(await statusOf(client, id)).toMatchObject(exited);
  });

  it("puts garbage aside, says so, and serves the rest", async () => {
    const dir = temporaryDir();
    const first = await startRuntime(dir);
    const pod = await runPod(first.client, dir);
    const good = await pod.create("good", sh("exit 0"));
    const bad = await pod.start("bad", sh("sleep 1000"));
    first.client.close();
    await first.runtime.close();
    const state = path.join(dir, "state");
    writeFileSync(path.join(state, "containers", bad, "state.json"), '{"sandboxId": 7');
    mkdirSync(path.join(state, "sandboxes", "empty"));
    mkdirSync(path.join(state, "containers", ".new-half-made"));
    writeFileSync(path.join(state, "containers", ".gone-file"), "");

    const second = await startRuntime(dir);
    const { containers } = await second.client.call("listContainers", {});
    const { items } = await second.client.call("listPodSandbox", {});
    expect([containers.map(({ id }) => id), items.map(({ id }) => id)]).toEqual([[good], [pod.sandboxId]]);
    expect(second.reports.map((line) => line.replace(/\(.*\)|-\d+$/gs, "")).sort()).toEqual(
      [
        `${state}/containers/${bad} cannot be read ; it is moved aside to ${state}/aside/containers-${bad}`,
        `${state}/sandboxes/empty cannot be read ; it is moved aside to ${state}/aside/sandboxes-empty`,
      ].sort(),
    );
    expect(readdirSync(path.join(state, "containers"))).toEqual([good]);
    await waitFor("the container that nobody knows to be gone", () => processesMentioning(bad).length === 0);
  });

  it("is private, and one runtime's at a time", async () => {
    const { dir, socketPath, stateDir } = await startRuntime();
    const mode = (file: string): string => (lstatSync(file).mode & 0o777).toString(8);
    expect([mode(socketPath), mode(stateDir), readdirSync(dir).sort()]).toEqual(["600", "700", ["s", "state"]]);
    await expect(runEmbeddedRuntime({ socketPath: path.join(dir, "other"), stateDir })).rejects.toThrow(
      `state directory ${stateDir} is in use by process ${process.pid}`,
    );
    const otherState = path.join(dir, "other-state");
    await expect(runEmbeddedRuntime({ socketPath, stateDir: otherState })).rejects.toThrow(
      `${socketPath}: another process is listening there`,
    );
  });

  it("replaces the socket and the lock of a dead process, but no other file", async () => {
    const dir = temporaryDir();
    const first = await startRuntimeProcess(dir);
    await first.kill();
    expect(lstatSync(path.join(dir, "s")).isSocket()).toBe(true);
    const { client } = await startRuntime(dir);
    expect((await client.call("version", {})).runtimeName).toBe("rxlet");
    const socketPath = path.join(dir, "file");
    writeFileSync(socketPath, "precious");
    await expect(runEmbeddedRuntime({ socketPath, stateDir: path.join(dir, "two") })).rejects.toThrow(
      `${socketPath} exists and is not a socket`,
    );
    expect(readFileSync(socketPath, "utf8")).toBe("precious");
  });

  it("refuses a socket path that the system would cut", async () => {
    const dir = temporaryDir();
    const socketPath = path.join(dir, "x".repeat(100));
    await expect(runEmbeddedRuntime({ socketPath, stateDir: path.join(dir, "state") })).rejects.toThrow(
      `socket path ${socketPath} is too long: at most 103 bytes are possible`,
    );
  });

  it("leaves a socket alone that somebody else has put in its place", async () => {
    const dir = temporaryDir();
    const { runtime, client, socketPath } = await startRuntime(dir);
    client.close();
    rmSync(socketPath);
    const other = createServer().listen(socketPath);
    onTestFinished(() => void other.close());
    await waitFor("the other socket", () => existsSync(socketPath));
    await runtime.close();
    expect(existsSync(socketPath)).toBe(true);
  });
});

describe("embedded runtime: closing", () => {
  it("leaves containers running for the next one", async () => {
    const dir = temporaryDir();
    const first = await startRuntime(dir);
    const pod = await runPod(first.client, dir);
    const id = await pod.start("main", sh(COUNTING));
    const before = await statusOf(first.client, id);
    first.client.close();
    await first.runtime.close();
    expect(existsSync(first.socketPath)).toBe(false);
    const { client } = await startRuntime(dir);
    expect(await statusOf(client, id)).toEqual(before);
    await client.call("stopContainer", { containerId: id, timeout: 0n });
    expectNoGap(pod.log("main"));
  });

  it.each([
    ["TERM, which a container obeys", { trap: "exit 5", graceMs: 60_000, exitCode: 5 }],
    ["a kill after the grace period, as one ignores TERM", { trap: "", graceMs: 100, exitCode: 137 }],
  ])("stops everything when asked, by %s; no process is left", async (_, { trap, graceMs, exitCode }) => {
    const dir = temporaryDir();
    const first = await startRuntime(dir);
    const pod = await runPod(first.client, dir);
    const id = await pod.start("main", sh(`trap '${trap}' TERM; echo ready; while :; do sleep 0.01; done`));
    await waitFor("the trap", () => pod.log("main").length === 1);
    first.client.close();
    await first.runtime.close({ stopContainers: true, graceMs });
    expect(processesMentioning(path.join(dir, "state"))).toEqual([]);
    const { client } = await startRuntime(dir);
    const { status } = await client.call("podSandboxStatus", { podSandboxId: pod.sandboxId });
    expect([await statusOf(client, id), status?.state]).toMatchObject([
      { state: ContainerState.CONTAINER_EXITED, exitCode },
      PodSandboxState.SANDBOX_NOTREADY,
    ]);
  });
});
