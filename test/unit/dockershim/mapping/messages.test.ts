/** Docker's answers as CRI's messages. */
import { describe, expect, it } from "vitest";
import { containerDetails, containerSummaries } from "../../../../src/dockershim/engine/answers.ts";
import { containerEvent } from "../../../../src/dockershim/engine/events.ts";
import { imageDetails } from "../../../../src/dockershim/engine/images.ts";
import { timestampNs } from "../../../../src/dockershim/engine/timestamp.ts";
import { containerUsage } from "../../../../src/dockershim/engine/usage.ts";
import { pullQuery, registryAuth } from "../../../../src/dockershim/imagePulls.ts";
import { containerStatusMessage, stateOfSummary } from "../../../../src/dockershim/mapping/containerMessages.ts";
import { imageMessage, isShortId } from "../../../../src/dockershim/mapping/imageMessages.ts";
import {
  containerName,
  sandboxLabels,
  sandboxMetadata,
  sandboxName,
  splitLabels,
} from "../../../../src/dockershim/mapping/names.ts";
import { sandboxStatusMessage } from "../../../../src/dockershim/mapping/sandboxMessages.ts";
import { criSignal, dockerSignal } from "../../../../src/dockershim/mapping/signals.ts";
import { fourOf, sixOf } from "../../../../src/dockershim/podAddresses.ts";
import { interfaces } from "../../../../src/dockershim/networkUsage.ts";
import * as cri from "../../../../src/gen/cri.ts";

const CREATED = "2026-01-02T03:04:05.000000001Z";
const NEVER = "0001-01-01T00:00:00Z";
const createdAt = timestampNs(CREATED);
const facts = { createdAt, imageRef: "i@sha256:2", imageId: "sha256:1", imageName: "i:1" };
const statusOf = (State: object, more: object = {}) =>
  containerStatusMessage(
    containerDetails({ Id: "c", Name: "/k8s_main_web_shop_u-1_3", Created: CREATED, State, ...more }),
    facts,
  );

describe("times", () => {
  it.each([
    [CREATED, 1_767_323_045_000_000_001n],
    ["2026-01-02T03:04:05.5Z", 1_767_323_045_500_000_000n],
    ["2026-01-02T05:04:05+02:00", 1_767_323_045_000_000_000n],
    [NEVER, 0n],
    ["yesterday", 0n],
    ["2026-99-99T00:00:00Z", 0n],
  ])("reads %s", (text, ns) => expect(timestampNs(text)).toBe(ns));
});

describe("the status of a container", () => {
  const ended = { StartedAt: CREATED, FinishedAt: "2026-01-02T03:04:06Z" };
  it.each([
    [
      "created",
      { StartedAt: NEVER, FinishedAt: NEVER },
      { state: 0, reason: "", exitCode: 0, startedAt: 0n, finishedAt: 0n },
    ],
    [
      "running",
      { Running: true, StartedAt: CREATED, FinishedAt: NEVER },
      { state: 1, reason: "", startedAt: createdAt, finishedAt: 0n },
    ],
    ["completed", { ...ended, ExitCode: 0 }, { state: 2, reason: "Completed", exitCode: 0 }],
    ["failed", { ...ended, ExitCode: 3 }, { state: 2, reason: "Error", exitCode: 3 }],
    ["killed for its memory", { ...ended, ExitCode: 137, OOMKilled: true }, { state: 2, reason: "OOMKilled" }],
    [
      "never startable",
      { StartedAt: NEVER, FinishedAt: NEVER, ExitCode: 127, Error: "no such file" },
      { state: 2, reason: "ContainerCannotRun", exitCode: 127, message: "no such file", finishedAt: createdAt },
    ],
  ])("tells one that is %s", (_what, state, expected) => expect(statusOf(state)).toMatchObject(expected));

  it("tells identity, image, limits, mounts, log and signal", () => {
    const status = statusOf(
      { Running: true },
      {
        Config: {
          Labels: { a: "1", "annotation.n": "2", "io.kubernetes.container.logpath": "/l" },
          StopSignal: "TERM",
        },
        HostConfig: { Memory: 64, CpuShares: 2, OomScoreAdj: -5 },
        Mounts: [{ Source: "/s", Destination: "/d", RW: false, Propagation: "rslave" }],
      },
    );
    expect(status).toMatchObject({
      metadata: { name: "main", attempt: 3 },
      labels: { a: "1" },
      annotations: { n: "2" },
      logPath: "/l",
      image: { image: "i:1" },
      imageRef: "i@sha256:2",
      imageId: "sha256:1",
      resources: { linux: { memoryLimitInBytes: 64n, cpuShares: 2n, oomScoreAdj: -5n } },
      mounts: [{ hostPath: "/s", containerPath: "/d", readonly: true, propagation: 1 }],
      stopSignal: cri.Signal.SIGTERM,
    });
  });

  it("counts listed states, except for those that only an inspection tells", () => {
    const states = ["running", "paused", "exited", "dead", "created", "removing"].map((State) => ({ Id: "ab", State }));
    expect(containerSummaries(states).map(stateOfSummary)).toEqual([1, 1, 2, 2, undefined, 3]);
  });
});

describe("the status of a sandbox", () => {
  const details = (hostConfig: object, running = true) =>
    containerDetails({
      Id: "s",
      Name: "/k8s_POD_web_shop_u-1_2",
      Created: CREATED,
      State: { Running: running },
      HostConfig: hostConfig,
      NetworkSettings: { Networks: { bridge: { IPAddress: "192.0.2.2", GlobalIPv6Address: "2001:db8::2" } } },
    });
  const networkOf = ({ addresses }: ReturnType<typeof details>) => ({ connected: true, ips: addresses });

  it("has its addresses, namespaces and metadata", () => {
    const bridged = details({ NetworkMode: "default", PidMode: "host" });
    expect(sandboxStatusMessage(bridged, networkOf(bridged))).toMatchObject({
      id: "s",
      metadata: { name: "web", namespace: "shop", uid: "u-1", attempt: 2 },
      state: cri.PodSandboxState.SANDBOX_READY,
      createdAt,
      network: { ip: "192.0.2.2", additionalIps: [{ ip: "2001:db8::2" }] },
      linux: { namespaces: { options: { network: 0, pid: cri.NamespaceMode.NODE, ipc: 0 } } },
    });
  });

  it.each([
    [false, true],
    [true, false],
  ])("is not ready: running %s, connected %s", (running, connected) => {
    const { state } = sandboxStatusMessage(details({}, running), { connected, ips: [] });
    expect(state).toBe(cri.PodSandboxState.SANDBOX_NOTREADY);
  });
});

describe("names and labels", () => {
  const pod = { name: "web", namespace: "shop", uid: "u-1", attempt: 2 };
  it("are those of cri-dockerd", () => {
    expect(sandboxName(pod)).toBe("k8s_POD_web_shop_u-1_2");
    expect(containerName(pod, { name: "main", attempt: 7 })).toBe("k8s_main_web_shop_u-1_7");
    expect(sandboxMetadata("/k8s_POD_web_shop_u-1_2_0a1b2c3d")).toEqual(pod);
    expect(["/web", "/k8s_POD_a_b", "/k8s_POD_a_b_c_x", "/x_POD_a_b_c_0"].map(sandboxMetadata)).toEqual(
      Array(4).fill(undefined),
    );
  });

  it("take no label of a pod for one of the shim", () => {
    const forged = { "io.kubernetes.sandbox.id": "x", "io.kubernetes.docker.type": "container", app: "a" };
    expect(sandboxLabels({ ...forged, "dev.rxlet.docker.network": "x" }, {}, false)).toEqual({
      app: "a",
      "io.kubernetes.docker.type": "podsandbox",
      "io.kubernetes.container.name": "POD",
    });
  });

  it("hide the labels of the shim", () => {
    const own = { "io.kubernetes.docker.type": "podsandbox", "io.kubernetes.container.name": "POD", a: "1" };
    expect(splitLabels(own)).toEqual({ labels: { a: "1" }, annotations: {} });
  });

  it.each(["", "a_b", "a/b", "ä", "a b"])("refuse a pod named %j", (name) => {
    expect(() => sandboxName({ ...pod, name })).toThrow("config.metadata.name");
  });
});

describe("images", () => {
  it("have names without those that are none, a user and a pin", () => {
    const image = imageDetails({
      Id: "sha256:1",
      RepoTags: ["pause:1", "<none>:<none>"],
      RepoDigests: null,
      Size: 7,
      Config: { User: "1000:5" },
    });
    expect(imageMessage(image, "pause:1")).toMatchObject({
      repoTags: ["pause:1"],
      repoDigests: [],
      size: 7n,
      uid: { value: 1000n },
      username: "",
      pinned: true,
    });
    expect(imageMessage({ ...image, user: "web" }, "")).toMatchObject({
      username: "web",
      uid: undefined,
      pinned: false,
    });
  });

  it("are not meant by the begin of their id", () => {
    const image = imageDetails({ Id: "sha256:abcdef", RepoTags: ["abc:latest"] });
    expect(["abcd", "sha256:ab", "abc", "abcdef", "sha256:abcdef"].map((name) => isShortId(name, image))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it.each([
    ["busybox", { fromImage: "busybox", tag: "latest" }],
    ["host:5000/a/b", { fromImage: "host:5000/a/b", tag: "latest" }],
    ["host:5000/a/b:1", { fromImage: "host:5000/a/b", tag: "1" }],
    ["a:1@sha256:2", { fromImage: "a", tag: "sha256:2" }],
  ])("are pulled by one tag or digest: %s", (name, query) => expect(pullQuery(name)).toEqual(query));

  it("are pulled with credentials, also those that CRI has as one text", () => {
    const sent = (auth: Parameters<typeof cri.AuthConfig.create>[0]) => {
      const header = registryAuth(cri.AuthConfig.create(auth))["X-Registry-Auth"] ?? "";
      expect(header).toMatch(/^(?:[\w-]{4})*(?:[\w-]{2}==|[\w-]{3}=)?$/);
      return JSON.parse(Buffer.from(header, "base64url").toString()) as unknown;
    };
    const rest = { serveraddress: "", identitytoken: "", registrytoken: "" };
    expect(sent({ auth: Buffer.from("me:a:b").toString("base64") })).toEqual({
      username: "me",
      password: "a:b",
      ...rest,
    });
    expect(sent({ username: "you", password: "ü", identityToken: "t" })).toEqual({
      username: "you",
      password: "ü",
      ...rest,
      identitytoken: "t",
    });
    expect(registryAuth(undefined)).toEqual({});
  });
});

describe("events and usage", () => {
  it("reads events about containers, and no others", () => {
    const event = {
      Type: "container",
      Action: "die",
      Actor: { ID: "ab".repeat(32), Attributes: { a: "1", b: 2 } },
      timeNano: 5,
    };
    expect(containerEvent(event)).toEqual({ id: "ab".repeat(32), change: "die", at: 5n, attributes: { a: "1" } });
    const others = [{ ...event, Type: "image" }, { ...event, Action: "exec_start: x" }, { ...event, Actor: {} }, null];
    expect(others.map(containerEvent)).toEqual(Array(4).fill(undefined));
  });

  it.each([
    ["1", { total_inactive_file: 30, total_rss: 5, total_pgfault: 1, total_pgmajfault: 2 }],
    ["2", { inactive_file: 30, anon: 5, pgfault: 1, pgmajfault: 2 }],
  ])("reads usage of version %s of cgroups", (_version, stats) => {
    const usage = containerUsage({
      cpu_stats: { cpu_usage: { total_usage: 9 } },
      memory_stats: { usage: 100, limit: 200, stats },
      pids_stats: { current: 4 },
    });
    expect(usage).toEqual({
      cpuNs: 9n,
      memoryBytes: 100n,
      workingSetBytes: 70n,
      rssBytes: 5n,
      limitBytes: 200n,
      pageFaults: 1n,
      majorPageFaults: 2n,
      processes: 4n,
    });
    expect(containerUsage({ memory_stats: {} })).toBeUndefined();
  });

  it("reads the interfaces of a namespace, the default one first", () => {
    const table = [
      "Inter-|   Receive                                                |  Transmit",
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed",
      "    lo:       1       0    0    0    0     0          0         0        2       0    0    0    0     0       0          0",
      "  net1:      10       0    1    0    0     0          0         0       20       0    2    0    0     0       0          0",
      "  eth0:     100       0    3    0    0     0          0         0      200       0    4    0    0     0       0          0",
    ].join("\n");
    expect(
      interfaces(table).map(({ name, rxBytes, rxErrors, txBytes, txErrors }) => [
        name,
        rxBytes?.value,
        rxErrors?.value,
        txBytes?.value,
        txErrors?.value,
      ]),
    ).toEqual([
      ["eth0", 100n, 3n, 200n, 4n],
      ["net1", 10n, 1n, 20n, 2n],
    ]);
  });

  it("reads the addresses of a namespace", () => {
    const routes = [
      "Main:",
      "  +-- 0.0.0.0/0 3 0 5",
      "           |-- 10.88.0.0",
      "              /24 link UNICAST",
      "           |-- 10.88.0.7",
      "              /32 host LOCAL",
      "           |-- 127.0.0.1",
      "              /32 host LOCAL",
      "Local:",
      "           |-- 10.88.0.7",
      "              /32 host LOCAL",
    ].join("\n");
    expect(fourOf(routes)).toEqual(["10.88.0.7"]);
    const table = [
      "fe8000000000000080d6fafffe77d741 546 40 20 80 eth0",
      "20010db8000000000000000000000007 04 40 00 82     eth0",
      "00000000000000000000000000000001 01 80 10 80       lo",
    ].join("\n");
    expect([sixOf(table), sixOf("nonsense")]).toEqual([["2001:db8:0:0:0:0:0:7"], []]);
  });

  it("knows signals by either name", () => {
    expect(["SIGINT", "kill", "SIGRTMAX-2", "", "nonsense"].map(criSignal)).toEqual([
      cri.Signal.SIGINT,
      cri.Signal.SIGKILL,
      cri.Signal.SIGRTMAXMINUS2,
      cri.Signal.SIGTERM,
      cri.Signal.SIGTERM,
    ]);
    expect(dockerSignal(cri.Signal.SIGRTMAXMINUS2)).toBe("SIGRTMAX-2");
  });
});
