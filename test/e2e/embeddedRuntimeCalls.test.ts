import { statfsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import {
  ContainerEventType,
  ContainerState,
  ContainerStatus,
  Image,
  NamespaceMode,
  PodSandboxState,
  PodSandboxStatus,
  Signal,
} from "../../src/gen/cri.ts";
import { HOST_IMAGE_ID, HOST_IMAGE_REF } from "../../src/embeddedRuntime/hostImage.ts";
import { MAX_EXEC_OUTPUT_BYTES } from "../../src/embeddedRuntime/execSync.ts";
import manifest from "../../package.json" with { type: "json" };
import { waitFor } from "../support/waitFor.ts";
import { processesMentioning, runPod, sh, startRuntime } from "./embeddedRuntimeSetup.ts";

const metadata = (name: string): object => ({ name, namespace: "demo", uid: `uid-of-${name}`, attempt: 0 });
const NOTHING = "f".repeat(64);

describe("embedded runtime: sandboxes", () => {
  it("are records with an address of their own, ready until stopped", async () => {
    const { client, dir } = await startRuntime();
    const [one, two] = [await runPod(client, dir, "one"), await runPod(client, dir, "two")];
    const { podSandboxId: host } = await client.call("runPodSandbox", {
      config: {
        metadata: metadata("host"),
        linux: { securityContext: { namespaceOptions: { network: NamespaceMode.NODE } } },
      },
    });
    await client.call("stopPodSandbox", { podSandboxId: two.sandboxId });
    await client.call("stopPodSandbox", { podSandboxId: two.sandboxId });
    const status = async (podSandboxId: string): Promise<PodSandboxStatus | undefined> =>
      (await client.call("podSandboxStatus", { podSandboxId })).status;
    const [first, second, third] = [await status(one.sandboxId), await status(two.sandboxId), await status(host)];
    expect(first).toEqual(
      PodSandboxStatus.fromPartial({
        id: one.sandboxId,
        metadata: metadata("one"),
        state: PodSandboxState.SANDBOX_READY,
        createdAt: first?.createdAt ?? 0n,
        network: { ip: first?.network?.ip ?? "" },
        linux: { namespaces: {} },
        labels: { app: "one" },
        annotations: { note: "kept" },
      }),
    );
    expect([second?.state, third?.network?.ip]).toEqual([PodSandboxState.SANDBOX_NOTREADY, ""]);
    const ips = [first?.network?.ip ?? "", second?.network?.ip ?? ""];
    expect([new Set(ips).size, ips.every((ip) => /^127\.\d+\.\d+\.\d+$/.test(ip))]).toEqual([2, true]);
  });

  it("take their containers with them: killed by a stop, gone with a removal, any number of times", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const running = await pod.start("running", sh("trap '' TERM; sleep 1000"));
    const created = await pod.create("created", sh("exit 0"));
    await client.call("stopPodSandbox", { podSandboxId: pod.sandboxId });
    const { status } = await client.call("containerStatus", { containerId: running });
    expect([status?.state, status?.exitCode]).toEqual([ContainerState.CONTAINER_EXITED, 137]);
    expect(await client.refusal("createContainer", { podSandboxId: pod.sandboxId })).toEqual({
      code: "FAILED_PRECONDITION",
      details: `sandbox "${pod.sandboxId}" is not ready`,
    });
    await Promise.all([1, 2].map(() => client.call("removePodSandbox", { podSandboxId: pod.sandboxId })));
    await client.call("removePodSandbox", { podSandboxId: pod.sandboxId });
    await client.call("stopPodSandbox", { podSandboxId: pod.sandboxId });
    const left = [await client.call("listPodSandbox", {}), await client.call("listContainers", {})];
    expect([left, created === running]).toEqual([[{ items: [] }, { containers: [] }], false]);
  });

  it("have one holder of a name, also when two ask at once", async () => {
    const { client } = await startRuntime();
    const config = { metadata: metadata("web") };
    const answers = await Promise.allSettled([1, 2].map(() => client.call("runPodSandbox", { config })));
    expect(answers.map((answer) => answer.status).sort()).toEqual(["fulfilled", "rejected"]);
    const { items } = await client.call("listPodSandbox", {});
    expect(await client.refusal("runPodSandbox", { config })).toEqual({
      code: "ALREADY_EXISTS",
      details: `name "web_demo_uid-of-web_0" is reserved for ${items[0]?.id}`,
    });
    await client.call("runPodSandbox", { config: { metadata: { ...metadata("web"), attempt: 1 } } });
  });

  it("and containers are found by the unique beginning of their id", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const id = await pod.create("main", sh("exit 0"));
    const { status } = await client.call("containerStatus", { containerId: id.slice(0, 12) });
    const { containers } = await client.call("listContainers", {
      filter: { podSandboxId: pod.sandboxId.slice(0, 12) },
    });
    expect([status?.id, containers.map((container) => container.id)]).toEqual([id, [id]]);
  });
});

describe("embedded runtime: bad requests", () => {
  it("are refused naming the field", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const running = await pod.start("running", sh("sleep 1000"));
    const container = (config: object): Promise<object> =>
      client.refusal("createContainer", {
        podSandboxId: pod.sandboxId,
        config: { metadata: { name: "x" }, image: { image: "rxlet.dev/host" }, command: ["true"], ...config },
      });
    const invalid = (details: string): object => ({ code: "INVALID_ARGUMENT", details });
    const linux = (securityContext: object): object => ({ linux: { securityContext } });
    const me = os.userInfo();
    const cases = [
      [client.refusal("runPodSandbox", {}), invalid("config.metadata: is required")],
      [
        client.refusal("runPodSandbox", { config: { metadata: { ...metadata("x"), uid: "" } } }),
        invalid("config.metadata.uid: is required"),
      ],
      [
        client.refusal("runPodSandbox", { config: { metadata: metadata("x") }, runtimeHandler: "kata" }),
        invalid('runtime_handler: no runtime for "kata" is configured'),
      ],
      [client.refusal("stopContainer", { containerId: "" }), invalid("container_id: an id is required")],
      [client.refusal("stopContainer", { containerId: running, timeout: -1n }), invalid("timeout: -1 is negative")],
      [client.refusal("podSandboxStatus", {}), invalid("pod_sandbox_id: an id is required")],
      [
        client.refusal("podSandboxStatus", { podSandboxId: NOTHING }),
        { code: "NOT_FOUND", details: `sandbox "${NOTHING}": not found` },
      ],
      [client.refusal("createContainer", { podSandboxId: pod.sandboxId }), invalid("config: is required")],
      [container({ metadata: { name: "" } }), invalid("config.metadata.name: a name is required")],
      [
        container({ command: [] }),
        invalid(
          'config.command: no command specified: container "x" needs command or args, ' +
            "as the image rxlet.dev/host has no entrypoint",
        ),
      ],
      [container({ command: ["a\0b"] }), invalid("config.command: holds a NUL character")],
      [
        container({ envs: [{ key: "A=B", value: Buffer.from("") }] }),
        invalid('config.envs: "A=B" is no name of an environment variable'),
      ],
      [
        container({ envs: [{ key: "A", value: Buffer.from("\0") }] }),
        invalid('config.envs: the value of "A" holds a NUL character'),
      ],
      [container({ workingDir: "here" }), invalid('config.working_dir: "here" is not an absolute path')],
      [
        container(linux({ runAsUser: { value: BigInt(me.uid + 1) } })),
        invalid(
          `config.linux.security_context.run_as_user: user ${me.uid + 1} was requested, ` +
            `but the embedded runtime runs everything as its own user ${me.uid}`,
        ),
      ],
      [
        container(linux({ runAsUsername: "somebody" })),
        invalid(
          'config.linux.security_context.run_as_username: user "somebody" was requested, ' +
            `but the embedded runtime runs everything as its own user "${me.username}"`,
        ),
      ],
      [container({ image: { image: "nginx" } }), { code: "NOT_FOUND", details: 'image "nginx": not found' }],
      [
        container({ metadata: { name: "running" } }),
        {
          code: "ALREADY_EXISTS",
          details: `name "running_${pod.sandboxId}_0" is reserved for ${running}`,
        },
      ],
      [client.refusal("execSync", { containerId: running }), invalid("cmd: a command is required")],
      [
        client.refusal("execSync", { containerId: running, cmd: ["true"], timeout: -1n }),
        invalid("timeout: -1 is negative"),
      ],
      [client.refusal("imageStatus", {}), invalid("image.image: a name is required")],
    ] as const;
    for (const [answer, expected] of cases) expect(await answer).toEqual(expected);
    expect((await client.call("listContainers", {})).containers.map(({ id }) => id)).toEqual([running]);
  });

  it("accepts being less than asked for: run_as_user 0 and its own user", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const asUser = (value: bigint): object => ({ linux: { securityContext: { runAsUser: { value } } } });
    await pod.create("root", { ...sh("exit 0"), ...asUser(0n) });
    await pod.create("own", { ...sh("exit 0"), ...asUser(BigInt(os.userInfo().uid)) });
    expect((await client.call("listContainers", {})).containers.length).toBe(2);
  });

  it("says plainly what it does not implement", async () => {
    const { client } = await startRuntime();
    expect(await client.refusal("checkpointContainer", {})).toEqual({
      code: "UNIMPLEMENTED",
      details: "CheckpointContainer: not implemented by rxlet",
    });
  });
});

describe("embedded runtime: the node", () => {
  it("says what it is, that it is ready, and its configuration", async () => {
    const { client, stateDir } = await startRuntime();
    const { info, ...status } = await client.call("status", { verbose: true });
    expect({
      version: await client.call("version", {}),
      status,
      info: JSON.parse(info["config"] ?? "") as unknown,
      config: await client.call("runtimeConfig", {}),
      update: await client.call("updateRuntimeConfig", { runtimeConfig: { networkConfig: { podCidr: "10.0.0.0/8" } } }),
      descriptors: await client.call("listMetricDescriptors", {}),
      metrics: await client.call("listPodSandboxMetrics", {}),
    }).toEqual({
      version: {
        version: "0.1.0",
        runtimeName: "rxlet",
        runtimeVersion: manifest.version,
        runtimeApiVersion: "v1",
      },
      status: {
        status: {
          conditions: [
            { type: "RuntimeReady", status: true, reason: "", message: "" },
            { type: "NetworkReady", status: true, reason: "", message: "" },
          ],
        },
        runtimeHandlers: [{ name: "", features: { recursiveReadOnlyMounts: false, userNamespaces: false } }],
        features: { supplementalGroupsPolicy: false, userNamespacesHostNetwork: false },
      },
      info: expect.objectContaining({ stateDir, sandboxes: 0, containers: 0 }) as unknown,
      config: { linux: { cgroupDriver: 1 } },
      update: {},
      descriptors: { descriptors: [] },
      metrics: { podMetrics: [] },
    });
  });

  it("has one image, the host, and says so when asked for another", async () => {
    const { client } = await startRuntime();
    const host = Image.fromPartial({
      id: HOST_IMAGE_ID,
      repoTags: ["rxlet.dev/host:latest"],
      repoDigests: [HOST_IMAGE_REF],
      size: 1n,
      uid: { value: BigInt(os.userInfo().uid) },
      spec: { image: "rxlet.dev/host:latest" },
      pinned: true,
    });
    const image = (name: string): { image: { image: string } } => ({ image: { image: name } });
    expect({
      all: await client.call("listImages", {}),
      other: await client.call("listImages", { filter: image("nginx") }),
      byId: (await client.call("imageStatus", image(HOST_IMAGE_ID))).image,
      missing: (await client.call("imageStatus", image("nginx"))).image,
      pulled: await client.call("pullImage", image("rxlet.dev/host:any")),
      removed: await client.call("removeImage", image("nginx")),
    }).toEqual({
      all: { images: [host] },
      other: { images: [] },
      byId: host,
      missing: undefined,
      pulled: { imageRef: HOST_IMAGE_ID },
      removed: {},
    });
    expect([
      await client.refusal("pullImage", image("nginx:1")),
      await client.refusal("removeImage", image("rxlet.dev/host")),
    ]).toEqual([
      {
        code: "NOT_FOUND",
        details:
          'image "nginx:1" not found: the embedded runtime has no registry and only one image, rxlet.dev/host, ' +
          "which is the programs of this machine; use containerd to run other images",
      },
      { code: "FAILED_PRECONDITION", details: 'image "rxlet.dev/host" is this machine and stays' },
    ]);
  });

  it("reports the file system of its state directory", async () => {
    const { client, stateDir } = await startRuntime();
    const { imageFilesystems, containerFilesystems } = await client.call("imageFsInfo", {});
    const { blocks, bsize } = statfsSync(stateDir, { bigint: true });
    const [usage] = imageFilesystems;
    expect(containerFilesystems).toEqual(imageFilesystems);
    expect([usage?.fsId?.mountpoint, (usage?.usedBytes?.value ?? 0n) <= blocks * bsize]).toEqual([stateDir, true]);
    expect(usage?.usedBytes?.value).toBeGreaterThan(0n);
  });

  it("records resources without enforcing them", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const containerId = await pod.create("main", { ...sh("exit 0"), linux: { resources: { cpuShares: 2n } } });
    await client.call("updateContainerResources", { containerId, linux: { memoryLimitInBytes: 1024n } });
    await client.call("updatePodSandboxResources", { podSandboxId: pod.sandboxId });
    const { status } = await client.call("containerStatus", { containerId });
    expect([status?.resources?.linux?.cpuShares, status?.resources?.linux?.memoryLimitInBytes]).toEqual([0n, 1024n]);
  });
});

describe("embedded runtime: events", () => {
  it("tell the life of sandbox and containers, with the state of the pod as of then", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const id = await pod.start("main", sh("exit 0"));
    await client.events.of(id, "CONTAINER_STOPPED_EVENT");
    await client.call("removeContainer", { containerId: id });
    await client.call("stopPodSandbox", { podSandboxId: pod.sandboxId });
    await client.call("removePodSandbox", { podSandboxId: pod.sandboxId });
    await client.events.of(pod.sandboxId, "CONTAINER_DELETED_EVENT");
    const names = new Map(Object.entries(ContainerEventType).map(([name, type]) => [type as number, name]));
    const reported = client.events.seen.map((event) => [
      event.containerId === id ? "main" : event.containerId === pod.sandboxId ? "sandbox" : event.containerId,
      names.get(event.containerEventType),
      event.podSandboxStatus?.state,
      event.containersStatuses.map(({ state }) => state),
    ]);
    const { SANDBOX_READY, SANDBOX_NOTREADY } = PodSandboxState;
    const { CONTAINER_CREATED, CONTAINER_RUNNING, CONTAINER_EXITED } = ContainerState;
    expect(reported).toEqual([
      ["sandbox", "CONTAINER_CREATED_EVENT", SANDBOX_READY, []],
      ["sandbox", "CONTAINER_STARTED_EVENT", SANDBOX_READY, []],
      ["main", "CONTAINER_CREATED_EVENT", SANDBOX_READY, [CONTAINER_CREATED]],
      ["main", "CONTAINER_STARTED_EVENT", SANDBOX_READY, [CONTAINER_RUNNING]],
      ["main", "CONTAINER_STOPPED_EVENT", SANDBOX_READY, [CONTAINER_EXITED]],
      ["main", "CONTAINER_DELETED_EVENT", SANDBOX_READY, []],
      ["sandbox", "CONTAINER_STOPPED_EVENT", SANDBOX_NOTREADY, []],
      ["sandbox", "CONTAINER_DELETED_EVENT", undefined, []],
    ]);
  });

  it("carry the same status as ContainerStatus does", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const containerId = await pod.start("main", { ...sh("exit 4"), stopSignal: Signal.SIGINT });
    const event = await client.events.of(containerId, "CONTAINER_STOPPED_EVENT");
    const { status } = await client.call("containerStatus", { containerId });
    expect(event.containersStatuses).toEqual([ContainerStatus.create(status)]);
  });
});

describe("embedded runtime: ExecSync", () => {
  it("gives output and exit code, with the container's environment and directory", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const envs = [{ key: "GREETING", value: Buffer.from("hi") }];
    const containerId = await pod.start("main", { ...sh("sleep 1000"), envs, workingDir: dir });
    const run = async (script: string): Promise<readonly unknown[]> => {
      const answer = await client.call("execSync", { containerId, cmd: ["sh", "-c", script], timeout: 30n });
      return [Buffer.from(answer.stdout).toString(), Buffer.from(answer.stderr).toString(), answer.exitCode];
    };
    expect([
      await run("echo $GREETING; pwd; echo bad >&2; exit 5"),
      await run("kill -TERM $$"),
      await run("sleep 1000 & echo started"),
    ]).toEqual([
      [`hi\n${dir}\n`, "bad\n", 5],
      ["", "", 143],
      ["started\n", "", 0],
    ]);
    expect(await client.refusal("execSync", { containerId, cmd: ["no-such"] })).toEqual({
      code: "UNKNOWN",
      details: `failed to exec in container "${containerId}": exec: "no-such": executable file not found in $PATH`,
    });
  });

  it("ends at its timeout, when the client gives up, and with the container: nothing of it is left", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const containerId = await pod.start("main", sh("sleep 1000"));
    const cmd = (mark: string): string[] => ["/bin/sh", "-c", `: ${dir}/${mark}; sleep 1000; :`];
    const late = client.refusal("execSync", { containerId, cmd: cmd("late"), timeout: 1n });
    expect(await late).toEqual({
      code: "DEADLINE_EXCEEDED",
      details: `exec: ${JSON.stringify(cmd("late"))}: timeout 1000 ms exceeded; killed`,
    });
    const giveUp = new AbortController();
    const given = client.refusal("execSync", { containerId, cmd: cmd("given-up"), timeout: 60n }, giveUp.signal);
    await waitFor("the exec", () => processesMentioning(`${dir}/given-up`).length > 0);
    giveUp.abort();
    expect((await given).code).toBe("CANCELLED");
    const last = client.call("execSync", { containerId, cmd: cmd("last"), timeout: 60n });
    await waitFor("the exec", () => processesMentioning(`${dir}/last`).length > 0);
    await client.call("stopContainer", { containerId, timeout: 0n });
    expect((await last).exitCode).toBe(137);
    const marks = ["late", "given-up", "last"].map((mark) => `${dir}/${mark}`);
    await waitFor("all of them to be gone", () => marks.every((mark) => processesMentioning(mark).length === 0));
    expect((await client.refusal("execSync", { containerId, cmd: ["true"] })).details).toBe(
      `container "${containerId}" is exited`,
    );
  });

  it("keeps the reply within the message limit", async () => {
    const { client, dir } = await startRuntime();
    const pod = await runPod(client, dir);
    const containerId = await pod.start("main", sh("sleep 1000"));
    const cmd = ["sh", "-c", "head -c 20000000 /dev/zero; exit 6"];
    const { stdout, exitCode } = await client.call("execSync", { containerId, cmd, timeout: 60n });
    expect([stdout.length, exitCode]).toEqual([MAX_EXEC_OUTPUT_BYTES, 6]);
  });
});

describe("embedded runtime: statistics", () => {
  it("count CPU, memory, processes and the scratch directory of what runs", async () => {
    const { client, dir, stateDir } = await startRuntime();
    const pod = await runPod(client, dir);
    const busy =
      "head -c 100000 /dev/zero >file; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done; sleep 1000";
    const id = await pod.start("busy", { ...sh(busy), labels: { kind: "busy" } });
    await pod.create("idle", sh("exit 0"));
    await waitFor("the work to be done", () => pod.log("busy").length === 1);
    const { stats } = await client.call("containerStats", { containerId: id });
    expect(stats?.attributes).toEqual({
      id,
      metadata: { name: "busy", attempt: 0 },
      labels: { kind: "busy" },
      annotations: {},
    });
    const figures = [
      stats?.cpu?.usageCoreNanoSeconds?.value ?? 0n,
      stats?.memory?.workingSetBytes?.value ?? 0n,
      stats?.writableLayer?.usedBytes?.value ?? 0n,
    ];
    expect([figures.map((figure) => figure > 50_000n), stats?.writableLayer?.fsId?.mountpoint]).toEqual([
      [true, true, true],
      stateDir,
    ]);
    const { stats: listed } = await client.call("listContainerStats", { filter: { podSandboxId: pod.sandboxId } });
    const { stats: unlisted } = await client.call("listContainerStats", { filter: { labelSelector: { kind: "no" } } });
    expect([listed.map((entry) => entry.attributes?.id), unlisted]).toEqual([[id], []]);
    const { stats: sandbox } = await client.call("podSandboxStats", { podSandboxId: pod.sandboxId });
    expect([
      sandbox?.attributes?.id,
      sandbox?.linux?.process?.processCount?.value,
      sandbox?.linux?.memory?.rssBytes?.value,
      (sandbox?.linux?.cpu?.usageCoreNanoSeconds?.value ?? 0n) >= (figures[0] ?? 0n),
    ]).toEqual([pod.sandboxId, 2n, sandbox?.linux?.containers[0]?.memory?.rssBytes?.value, true]);
    await client.call("stopPodSandbox", { podSandboxId: pod.sandboxId });
    expect([
      (await client.call("listPodSandboxStats", {})).stats,
      (await client.call("listContainerStats", {})).stats,
      (await client.call("containerStats", { containerId: id })).stats?.cpu,
      path.isAbsolute(stateDir),
    ]).toEqual([[], [], undefined, true]);
  });
});
