import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ContainerState, Signal } from "../../src/gen/cri.ts";
import { HOST_IMAGE_ID, HOST_IMAGE_REF } from "../../src/embeddedRuntime/hostImage.ts";
import { waitFor } from "../support/waitFor.ts";
import type { RuntimeClient } from "./embeddedRuntimeClient.ts";
import { processesMentioning, runPod, sh, startRuntime, type TestPod } from "./embeddedRuntimeSetup.ts";

const exitOf = async (client: RuntimeClient, containerId: string): Promise<object> => {
  await client.events.of(containerId, "CONTAINER_STOPPED_EVENT");
  const { status } = await client.call("containerStatus", { containerId });
  return { state: status?.state, exitCode: status?.exitCode, reason: status?.reason };
};
const exited = (exitCode: number): object => ({
  state: ContainerState.CONTAINER_EXITED,
  exitCode,
  reason: exitCode === 0 ? "Completed" : "Error",
});
/** Waits until the container wrote this line: it is set up to receive signals, say. */
const said = (pod: TestPod, container: string, text: string): Promise<unknown> =>
  waitFor(`"${text}" in the log of ${container}`, () => pod.log(container).some(([, , line]) => line === text));

describe("embedded runtime: a container's life", () => {
  it("is created, running, exited, with every field of its status", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const request = {
      ...sh("read line <gate; exit 3"),
      labels: { tier: "front" },
      annotations: { note: "kept" },
      mounts: [{ containerPath: "/data", hostPath: "/tmp" }],
      linux: { resources: { cpuShares: 2n } },
      workingDir: dir,
    };
    execFileSync("mkfifo", [path.join(dir, "gate")]);
    const id = await pod.create("main", request);
    const { status: created } = await client.call("containerStatus", { containerId: id });
    await client.call("startContainer", { containerId: id });
    const { status: running } = await client.call("containerStatus", { containerId: id });
    writeFileSync(path.join(dir, "gate"), "go\n");
    await client.events.of(id, "CONTAINER_STOPPED_EVENT");
    const { status: ended } = await client.call("containerStatus", { containerId: id });
    const common = {
      id,
      metadata: { name: "main", attempt: 0 },
      image: expect.objectContaining({ image: "rxlet.dev/host:latest" }) as unknown,
      imageRef: HOST_IMAGE_REF,
      imageId: HOST_IMAGE_ID,
      labels: { tier: "front" },
      annotations: { note: "kept" },
      mounts: [expect.objectContaining({ containerPath: "/data", hostPath: "/tmp" })] as unknown,
      logPath: path.join(dir, "logs/web/main.log"),
      resources: { linux: expect.objectContaining({ cpuShares: 2n }) as unknown, windows: undefined },
      user: { linux: { uid: BigInt(os.userInfo().uid), gid: BigInt(os.userInfo().gid), supplementalGroups: [] } },
      stopSignal: Signal.SIGTERM,
      message: "",
      createdAt: created?.createdAt,
      reason: "",
      exitCode: 0,
      startedAt: 0n,
      finishedAt: 0n,
    };
    const { startedAt = 0n } = running ?? {};
    expect([created, running]).toEqual([
      { ...common, state: ContainerState.CONTAINER_CREATED },
      { ...common, state: ContainerState.CONTAINER_RUNNING, startedAt },
    ]);
    expect(ended).toEqual({
      ...common,
      state: ContainerState.CONTAINER_EXITED,
      startedAt,
      finishedAt: ended?.finishedAt,
      exitCode: 3,
      reason: "Error",
    });
    const times = [common.createdAt ?? 0n, startedAt, ended?.finishedAt ?? 0n];
    expect(times).toEqual([...times].sort((a, b) => Number(a - b)));
  });

  it("gives the exit code of the command, 128 and the signal when a signal ended it", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const ids = await Promise.all([
      pod.start("ok", sh("exit 0")),
      pod.start("three", sh("exit 3")),
      pod.start("abrt", sh("ulimit -c 0; kill -ABRT $$")),
      pod.start("term", sh("kill -TERM $$")),
      pod.start("int", sh("kill -INT $$")),
      pod.start("killed", sh("kill -KILL $$")),
    ]);
    expect(await Promise.all(ids.map((id) => exitOf(client, id)))).toEqual([0, 3, 134, 143, 130, 137].map(exited));
  });

  it("runs with the environment as given, whatever the shell thinks of its names and bytes", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir, "envy");
    const given = {
      PLAIN: "a b'c\"d$e`f\\g\nh",
      "dotted.name-with-dash": "kept",
      IFS: "x",
      PPID: "not a number",
      LC_ALL: "C",
      EMPTY: "",
      UMLAUT: "ä",
      REPEATED: "last",
    };
    const envs = [["REPEATED", "first"], ...Object.entries(given)].map(([key = "", value = ""]) => ({
      key,
      value: Buffer.from(value),
    }));
    const dump = path.join(dir, "env");
    const command = [process.execPath, "-e", `require("fs").writeFileSync("${dump}", JSON.stringify(process.env))`];
    const id = await pod.start("main", {
      command,
      envs: [...envs, { key: "RAW", value: Buffer.from([0xff]) }],
      mounts: [
        { containerPath: "/dev/termination-log", hostPath: "/host/message" },
        { containerPath: "/data", hostPath: "/host/data" },
      ],
    });
    await client.events.of(id, "CONTAINER_STOPPED_EVENT");
    expect(JSON.parse(readFileSync(dump, "utf8"))).toEqual({
      ...given,
      RAW: "\ufffd",
      PATH: process.env["PATH"],
      HOME: os.homedir(),
      HOSTNAME: "envy",
      TERMINATION_LOG: "/host/message",
      RXLET_MOUNTS: '{"/dev/termination-log":"/host/message","/data":"/host/data"}',
    });
  });

  it("starts in its working directory, or in a scratch directory that goes with it", async () => {
    const { client, dir, stateDir } = await startRuntime();
    const pod = await runPod(client, dir);
    const named = await pod.start("named", { ...sh("pwd"), workingDir: dir });
    const scratch = await pod.start("scratch", sh("pwd; echo kept >file"));
    await Promise.all([named, scratch].map((id) => client.events.of(id, "CONTAINER_STOPPED_EVENT")));
    const work = path.join(stateDir, "containers", scratch, "work");
    expect([pod.log("named"), pod.log("scratch")]).toEqual([[["stdout", "F", dir]], [["stdout", "F", work]]]);
    await client.call("removeContainer", { containerId: scratch });
    expect(() => readFileSync(path.join(work, "file"))).toThrow("ENOENT");
  });

  it("fails the start of what cannot run: exited, 128, StartError", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    mkdirSync(path.join(dir, "a=b"));
    writeFileSync(path.join(dir, "a=b", "tool"), "#!/bin/sh\n", { mode: 0o755 });
    const cases = [
      [{ command: ["no-such-program"] }, 'exec: "no-such-program": executable file not found in $PATH'],
      [{ command: ["./nothing"], workingDir: dir }, `exec: "./nothing": executable file not found in ${dir}`],
      [{ command: [dir], workingDir: "/" }, `exec: "${dir}": executable file not found in /`],
      [{ command: ["sh"], workingDir: "/no/such" }, 'working directory "/no/such" does not exist on this host'],
      [{ command: ["./a=b/tool"], workingDir: dir }, `exec: "${dir}/a=b/tool": a path with "=" cannot be started`],
    ] as const;
    for (const [index, [config, reason]] of cases.entries()) {
      const containerId = await pod.create(`c${index}`, config);
      const refusal = await client.refusal("startContainer", { containerId });
      expect(refusal).toEqual({ code: "UNKNOWN", details: `failed to start container "${containerId}": ${reason}` });
      const { status } = await client.call("containerStatus", { containerId });
      expect({ ...status, createdAt: 0n, finishedAt: 0n }).toMatchObject({
        state: ContainerState.CONTAINER_EXITED,
        exitCode: 128,
        reason: "StartError",
        message: reason,
        startedAt: 0n,
      });
    }
  });

  it("starts only what is created and only in a ready sandbox", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const done = await pod.start("done", sh("exit 0"));
    await client.events.of(done, "CONTAINER_STOPPED_EVENT");
    const late = await pod.create("late", sh("exit 0"));
    await client.call("stopPodSandbox", { podSandboxId: pod.sandboxId });
    expect([
      await client.refusal("startContainer", { containerId: done }),
      await client.refusal("startContainer", { containerId: late }),
    ]).toEqual([
      { code: "FAILED_PRECONDITION", details: `container "${done}" is exited, not created` },
      { code: "FAILED_PRECONDITION", details: `sandbox "${pod.sandboxId}" is not ready` },
    ]);
  });
});

describe("embedded runtime: stopping", () => {
  it("asks with TERM and reports the container's own exit", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const id = await pod.start("main", sh("trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done"));
    await said(pod, "main", "ready");
    await client.call("stopContainer", { containerId: id, timeout: 30n });
    expect(await exitOf(client, id)).toEqual(exited(7));
  });

  it("asks with the container's stop signal, real-time ones included", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const cases = [
      ["usr1", "USR1", Signal.SIGUSR1],
      ["quit", "QUIT", Signal.SIGQUIT],
      ["rt", "37", Signal.SIGRTMINPLUS3],
    ] as const;
    for (const [name, trap, stopSignal] of cases) {
      const script = `trap 'exit 9' ${trap}; echo ready; while :; do sleep 0.01; done`;
      const id = await pod.start(name, { ...sh(script), stopSignal });
      await said(pod, name, "ready");
      await client.call("stopContainer", { containerId: id, timeout: 30n });
      expect([name, await exitOf(client, id)]).toEqual([name, exited(9)]);
    }
  });

  it("kills after the grace, at once without one, and sooner when a second stop says so", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const deaf = sh("trap 'echo asked' TERM; echo ready; while :; do sleep 0.01; done");
    const [graced, instant, hurried] = [
      await pod.start("graced", deaf),
      await pod.start("instant", deaf),
      await pod.start("hurried", deaf),
    ];
    await Promise.all(["graced", "instant", "hurried"].map((name) => said(pod, name, "ready")));
    await client.call("stopContainer", { containerId: instant, timeout: 0n });
    const patient = client.call("stopContainer", { containerId: hurried, timeout: 3600n });
    await said(pod, "hurried", "asked");
    await client.call("stopContainer", { containerId: hurried, timeout: 1n });
    await patient;
    await client.call("stopContainer", { containerId: graced, timeout: 1n });
    expect(await Promise.all([graced, instant, hurried].map((id) => exitOf(client, id)))).toEqual(
      [137, 137, 137].map(exited),
    );
    const asked = (name: string): number => pod.log(name).filter(([, , text]) => text === "asked").length;
    expect(["graced", "instant", "hurried"].map(asked)).toEqual([1, 0, 1]);
  });

  it("does not kill when the client gives up within the grace", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const id = await pod.start("main", sh("trap 'echo asked' TERM; echo ready; while :; do sleep 0.01; done"));
    await said(pod, "main", "ready");
    const giveUp = new AbortController();
    const refusal = client.refusal("stopContainer", { containerId: id, timeout: 1n }, giveUp.signal);
    await said(pod, "main", "asked");
    giveUp.abort();
    expect((await refusal).code).toBe("CANCELLED");
    const { exitCode } = await client.call("execSync", { containerId: id, cmd: ["sleep", "1.2"], timeout: 5n });
    const { status } = await client.call("containerStatus", { containerId: id });
    expect([exitCode, status?.state]).toEqual([0, ContainerState.CONTAINER_RUNNING]);
  });

  it("leaves a created container as it is, and stops and removes any number of times", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const id = await pod.create("main", sh("exit 0"));
    await client.call("stopContainer", { containerId: id, timeout: 1n });
    const { status } = await client.call("containerStatus", { containerId: id });
    expect(status?.state).toBe(ContainerState.CONTAINER_CREATED);
    await Promise.all([1, 2, 3].map(() => client.call("removeContainer", { containerId: id })));
    await client.call("removeContainer", { containerId: id });
    await client.call("stopContainer", { containerId: id, timeout: 1n });
    expect(await client.refusal("containerStatus", { containerId: id })).toEqual({
      code: "NOT_FOUND",
      details: `container "${id}": not found`,
    });
  });

  it("kills everything the main process left in its group or session when it ends", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const mark = path.join(dir, "leftover");
    const children = `sleep 1000 & (trap '' TERM; sleep 1001) & /bin/bash -c 'set -m; sleep 1002 >/dev/null 2>&1 & '`;
    const id = await pod.start("main", {
      ...sh(`${children}; exit 0`),
      envs: [{ key: "M", value: Buffer.from(mark) }],
    });
    expect(await exitOf(client, id)).toEqual(exited(0));
    await client.call("removeContainer", { containerId: id });
    await waitFor("the leftovers to be gone", () => processesMentioning(mark).length === 0);
  });

  it("removes a running container by killing it", async () => {
    const { client, dir, stateDir } = await startRuntime();
    const pod = await runPod(client, dir);
    const id = await pod.start("main", sh("sleep 1000"));
    await client.call("removeContainer", { containerId: id });
    await waitFor(
      "its processes to be gone",
      () => processesMentioning(path.join(stateDir, "containers")).length === 0,
    );
    expect(client.events.seen.filter((event) => event.containerId === id).map((e) => e.containerEventType)).toEqual([
      0, 1, 2, 3,
    ]);
  });

  it("counts a container as killed when its supervisor is", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const id = await pod.start("main", sh("sleep 1000"));
    const { info } = await client.call("containerStatus", { containerId: id, verbose: true });
    const { pid } = JSON.parse(info["info"] ?? "") as { pid: number };
    process.kill(pid, "SIGKILL");
    expect(await exitOf(client, id)).toEqual(exited(137));
    await client.call("removeContainer", { containerId: id });
    await waitFor("the main process to be gone", () => processesMentioning(dir).length === 0);
  });
});

describe("embedded runtime: logs", () => {
  it("has every line of both streams, long ones in parts, an unfinished one marked", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const id = await pod.start(
      "main",
      sh("echo one; echo; echo two >&2; head -c 20000 /dev/zero | tr '\\0' x; echo; printf end"),
    );
    await client.events.of(id, "CONTAINER_STOPPED_EVENT");
    const of = (wanted: string): readonly unknown[] =>
      pod
        .log("main")
        .filter(([stream]) => stream === wanted)
        .map(([, tag, text]) => [tag, text.length > 10 ? text.length : text]);
    expect([of("stdout"), of("stderr")]).toEqual([
      [
        ["F", "one"],
        ["F", ""],
        ["P", 16384],
        ["F", 20000 - 16384],
        ["P", "end"],
      ],
      [["F", "two"]],
    ]);
  });

  it("loses nothing of a flood, also what is written just before the exit", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const id = await pod.start("main", sh("seq 1 200000"));
    await client.events.of(id, "CONTAINER_STOPPED_EVENT");
    const lines = pod.log("main").map(([, , text]) => Number(text));
    expect([lines.length, lines.every((line, index) => line === index + 1)]).toEqual([200_000, true]);
  });

  it("goes on in a new file after ReopenContainerLog, and refuses it unless running", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const gate = path.join(dir, "gate");
    execFileSync("mkfifo", [gate]);
    const id = await pod.start("main", sh(`echo before; read line <${gate}; echo after`));
    const [file, rotated] = [path.join(pod.logDirectory, "main.log"), path.join(pod.logDirectory, "main.log.1")];
    await waitFor("the first line", () => pod.log("main").length === 1);
    renameSync(file, rotated);
    await client.call("reopenContainerLog", { containerId: id });
    writeFileSync(gate, "go\n");
    await client.events.of(id, "CONTAINER_STOPPED_EVENT");
    const refusal = await client.refusal("reopenContainerLog", { containerId: id });
    expect(refusal).toEqual({ code: "FAILED_PRECONDITION", details: `container "${id}" is exited` });
    expect([readFileSync(rotated, "utf8").endsWith("F before\n"), pod.log("main")]).toEqual([
      true,
      [["stdout", "F", "after"]],
    ]);
  });
});
