/** Checks at the end of a run. Each case changes one thing on a healthy node. */
import { describe, expect, it } from "vitest";
import type { PodStatus } from "../../../src/core/api.ts";
import { type DesiredNode, openDesires } from "../../../src/sim/checkers/desiredState.ts";
import { parseMountInfo } from "../../../src/core/mount/mountInfo.ts";
import { type LeftNode, leftovers, leftTimers } from "../../../src/sim/checkers/leftovers.ts";
import { podManifest, type SimPodPlan, type WantedPod } from "../../../src/sim/workload/workload.ts";
import { podNode } from "../../support/podNode.ts";
import { podOf } from "../../support/pods.ts";

describe("openDesires", () => {
  const planOf = (kind: string): SimPodPlan => ({
    name: "a",
    kind,
    source: "api",
    graceSeconds: 1,
    image: "registry.example/app:1",
    steps: [],
  });
  const wanted = (kind: string, uid = "uid-a"): WantedPod => ({ plan: planOf(kind), name: "a", uid });
  const nodeWith = (kind: string, status: PodStatus, sandboxes: readonly string[] = ["a"]): DesiredNode => {
    const { spec } = podManifest(planOf(kind), 0) as { readonly spec: object };
    const pod = podOf({ uid: "uid-a", name: "a", spec });
    const sandbox = (name: string) =>
      ({ config: { metadata: { name } } }) as ReturnType<DesiredNode["runtime"]["sandboxes"]>[number];
    return { pods: () => [{ ...pod, status }], runtime: { sandboxes: () => sandboxes.map(sandbox) } };
  };
  const container = (state: object, more: object = {}) => ({
    name: "main",
    image: "",
    imageID: "",
    ready: false,
    restartCount: 0,
    state,
    ...more,
  });
  const reported = (phase: string, ...containerStatuses: readonly ReturnType<typeof container>[]): PodStatus => ({
    phase,
    containerStatuses,
  });
  const up = container({ running: {} }, { ready: true });
  const ended = (exitCode: number) => container({ terminated: { exitCode, reason: "Completed" } });
  const evicted = (of?: ReturnType<typeof container>, reason = "TerminationByKubelet"): PodStatus => ({
    ...reported("Succeeded", ...(of === undefined ? [] : [of])),
    conditions: [{ type: "DisruptionTarget", status: "True", reason }],
  });
  const waits = (reason: string) => container({ waiting: { reason } });

  it.each<readonly [what: string, kind: string, status: PodStatus, found: readonly string[]]>([
    ["accepts a running, ready pod", "steady", reported("Running", up), []],
    [
      "reports a pod that is not ready",
      "steady",
      reported("Running", container({ running: {} })),
      ["demo/a is Running (main runs (not ready) #0)"],
    ],
    [
      "reports a waiting pod",
      "steady",
      reported("Pending", waits("ImagePullBackOff")),
      ["demo/a is Pending (main ImagePullBackOff (not ready) #0)"],
    ],
    [
      "reports a failed pod that should run",
      "steady",
      reported("Failed", waits("x")),
      ["demo/a is Failed (main x (not ready) #0)"],
    ],
    ["accepts a rejected pod", "steady", reported("Failed"), []],
    ["accepts a preempted pod", "steady", { ...reported("Failed", waits("x")), reason: "Preempting" }, []],
    [
      "accepts a rejected pod after a restart of the kubelet",
      "steady",
      { ...reported("Failed", waits("x")), reason: "OutOfpods" },
      [],
    ],
    ["accepts an evicted pod that ends with 0", "steady", evicted(ended(0)), []],
    [
      "reports a pod that should run and ends with 0 without an eviction",
      "steady",
      reported("Succeeded", ended(0)),
      ["demo/a is Succeeded (main Completed (not ready) #0)"],
    ],
    [
      "reports it for a disruption by others",
      "steady",
      evicted(ended(0), "EvictionByEvictionAPI"),
      ["demo/a is Succeeded (main Completed (not ready) #0)"],
    ],
    [
      "reports success of an evicted pod that ends with another code",
      "steady",
      evicted(ended(1)),
      ["demo/a is Succeeded (main Completed (not ready) #0)"],
    ],
    ["reports success of an evicted pod without containers", "steady", evicted(), ["demo/a is Succeeded ()"]],
    [
      "reports success of an evicted pod whose init container has not completed",
      "staged",
      evicted(ended(0)),
      ["demo/a is Succeeded (main Completed (not ready) #0)"],
    ],
    [
      "accepts one whose init container has completed",
      "staged",
      { ...evicted(ended(0)), initContainerStatuses: [{ ...ended(0), name: "setup" }] },
      [],
    ],
    [
      "accepts one that ended while its init container, which had completed, was repeated",
      "staged",
      {
        ...evicted(ended(0)),
        initContainerStatuses: [{ ...ended(137), name: "setup", lastState: { terminated: { exitCode: 0 } } }],
      },
      [],
    ],
    [
      "accepts a completed pod that should complete",
      "job",
      reported("Succeeded", container({ terminated: { exitCode: 0, reason: "Completed" } })),
      [],
    ],
    [
      "reports a running pod that should complete",
      "job",
      reported("Running", up),
      ["demo/a is Running (main runs #0)"],
    ],
    ["accepts a pod in its crash loop", "crash", reported("Running", waits("CrashLoopBackOff")), []],
    [
      "accepts a crashing pod that restarted at least once",
      "crash",
      reported("Running", container({ waiting: { reason: "PodInitializing" } }, { restartCount: 3 })),
      [],
    ],
    [
      "reports a crashing pod that never started",
      "crash",
      reported("Pending", waits("ContainerCreating")),
      ["demo/a is Pending (main ContainerCreating (not ready) #0)"],
    ],
  ])("%s", (_, kind, status, found) => {
    expect(openDesires(nodeWith(kind, status), [wanted(kind)])).toEqual(found);
  });

  it("reports pods that are unknown, have another UID or should be gone", () => {
    const node = nodeWith("steady", reported("Running", up), ["a", "b"]);
    expect([
      openDesires(node, [{ ...wanted("steady"), name: "c" }]),
      openDesires(node, [wanted("steady", "new")]),
    ]).toEqual([
      [
        "demo/c is not known to the kubelet",
        "demo/a is not wanted and still there",
        "demo/b is not wanted and still there",
      ],
      ["demo/a is still the pod of UID uid-a", "demo/b is not wanted and still there"],
    ]);
  });
});

describe("openDesires of pods with SELinux levels", () => {
  const planOf = (name: string): SimPodPlan => ({
    ...{ name, kind: "steady", source: "api", graceSeconds: 1, image: "registry.example/app:1", steps: [] },
  });
  const pod = (name: string, phase: string, level: string, claimName: string) => ({
    ...podOf({
      ...{ uid: name, name },
      spec: {
        ...{ containers: [], securityContext: { seLinuxOptions: { level } } },
        volumes: [{ name: "v", persistentVolumeClaim: { claimName } }],
      },
    }),
    status: { phase },
  });
  const open = (...pods: readonly ReturnType<typeof pod>[]): readonly string[] => {
    const wanted = pods.map(({ metadata: { name } }) => ({ plan: planOf(name), name, uid: name }));
    return openDesires({ pods: () => pods, runtime: { sandboxes: () => [] } }, wanted).map(
      (text) => text.split(" ")[0] ?? "",
    );
  };
  const [x, y] = ["s0:c1,c2", "s0:c1,c3"];
  it("accepts one that waits for another one with its volume", () => {
    expect(open(pod("a", "Pending", x, "0-pool"), pod("b", "Running", y, "0-pool"))).toEqual([]);
  });
  it.each([
    ["with the same level", pod("b", "Running", x, "0-pool")],
    ["with another volume", pod("b", "Running", y, "1-pool")],
    ["that has ended", pod("b", "Failed", y, "0-pool")],
  ])("reports one beside one %s", (_, other) => {
    expect(open(pod("a", "Pending", x, "0-pool"), other)).toEqual(["demo/a"]);
  });
  it("reports pods that wait for each other, and one with a volume of its own", () => {
    const both = [pod("a", "Pending", x, "0-common"), pod("b", "Pending", y, "0-common")];
    expect([open(...both), open(pod("a", "Pending", x, "a-own"), pod("b", "Running", y, "a-own"))]).toEqual([
      ["demo/a", "demo/b"],
      ["demo/a"],
    ]);
  });
});

describe("leftovers", () => {
  /** A node whose only pod was added and removed. */
  const emptied = (): LeftNode => {
    const { node } = podNode({ pods: [podOf()] });
    node.runFor(10_000);
    node.dropPod("uid-1");
    node.runFor(5 * 60_000);
    return node;
  };
  const used = (): LeftNode => {
    const { node } = podNode({ pods: [podOf()] });
    node.runFor(10_000);
    return node;
  };
  const paths = (path: (directories: LeftNode["config"]["directories"]) => string) => (node: LeftNode) => ({
    files: { paths: () => [...node.files.paths(), path(node.config.directories)] },
  });
  const cgroup = (name: string) => (node: LeftNode) => ({
    cgroups: { all: () => new Map([...node.cgroups.all(), [name, {}]]) },
  });

  const mount = (mountPoint: string) => () => ({
    host: { mounts: { all: () => parseMountInfo(`1 0 0:9 / ${mountPoint} rw - tmpfs tmpfs rw`) } },
  });

  it.each<readonly [what: string, change: (node: LeftNode) => Partial<LeftNode>, found: readonly string[]]>([
    ["accepts an empty node", () => ({}), []],
    ["reports a sandbox and a container", () => ({ runtime: used().runtime }), ["sandbox of plain", "container main"]],
    ["reports a pod", () => ({ pods: used().pods }), ["pod demo/plain"]],
    ["reports a file of a pod", paths(({ rootDir }) => `${rootDir}/pods/uid-1`), ["path /var/lib/kubelet/pods/uid-1"]],
    ["reports a log", paths(({ podLogsDir }) => `${podLogsDir}/x`), ["path /var/log/pods/x"]],
    [
      "reports a link to a log",
      paths(({ containerLogsDir }) => `${containerLogsDir}/x`),
      ["path /var/log/containers/x"],
    ],
    ["reports a mount of a pod", mount("/var/lib/kubelet/pods/uid-1/v"), ["mount /var/lib/kubelet/pods/uid-1/v"]],
    ["ignores a mount outside the pods", mount("/mnt"), []],
    ["ignores a file outside the kubelet's directories", paths(() => "/etc/passwd"), []],
    ["reports the cgroup of a pod", cgroup("/kubepods/burstable/poduid-1"), ["cgroup /kubepods/burstable/poduid-1"]],
    ["ignores the cgroup of a QoS class", cgroup("/kubepods/burstable"), []],
    ["reports a pod worker", () => ({ telemetry: { value: () => 1 } }), ["1 pod workers"]],
  ])("%s", (_, change, found) => {
    const node = emptied();
    const { config, kubelet, pods, runtime, files, host, cgroups, telemetry, api } = node;
    const left = { config, kubelet, pods, runtime, files, host, cgroups, telemetry, api, ...change(node) };
    expect(leftovers(left)).toEqual(found);
  });

  it("reports timers", () => {
    expect([leftTimers({ scheduler: { pending: 0 } }), leftTimers({ scheduler: { pending: 2 } })]).toEqual([
      [],
      ["2 timers"],
    ]);
  });
});
