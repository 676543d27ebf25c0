/** What is asked at the end of a run: on nodes on which all is as it should be but for what each case makes of it. */
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
  const told = (phase: string, ...containerStatuses: readonly ReturnType<typeof container>[]): PodStatus => ({
    phase,
    containerStatuses,
  });
  const up = container({ running: {} }, { ready: true });
  const waits = (reason: string) => container({ waiting: { reason } });

  it.each<readonly [what: string, kind: string, status: PodStatus, found: readonly string[]]>([
    ["runs and is ready", "steady", told("Running", up), []],
    [
      "is not ready",
      "steady",
      told("Running", container({ running: {} })),
      ["demo/a is Running (main runs (not ready) #0)"],
    ],
    [
      "waits",
      "steady",
      told("Pending", waits("ImagePullBackOff")),
      ["demo/a is Pending (main ImagePullBackOff (not ready) #0)"],
    ],
    ["has failed that has to run", "steady", told("Failed", waits("x")), ["demo/a is Failed (main x (not ready) #0)"]],
    ["was refused", "steady", told("Failed"), []],
    ["made room", "steady", { ...told("Failed", waits("x")), reason: "Preempting" }, []],
    ["was refused, and the kubelet restarted", "steady", { ...told("Failed", waits("x")), reason: "OutOfpods" }, []],
    [
      "has ended that has to end",
      "job",
      told("Succeeded", container({ terminated: { exitCode: 0, reason: "Completed" } })),
      [],
    ],
    ["runs that has to end", "job", told("Running", up), ["demo/a is Running (main runs #0)"]],
    ["is tried", "crash", told("Running", waits("CrashLoopBackOff")), []],
    [
      "was tried",
      "crash",
      told("Running", container({ waiting: { reason: "PodInitializing" } }, { restartCount: 3 })),
      [],
    ],
    [
      "is not tried",
      "crash",
      told("Pending", waits("ContainerCreating")),
      ["demo/a is Pending (main ContainerCreating (not ready) #0)"],
    ],
  ])("of one pod: %s", (_, kind, status, found) => {
    expect(openDesires(nodeWith(kind, status), [wanted(kind)])).toEqual(found);
  });

  it("of a pod that is not known, of another UID, and not wanted", () => {
    const node = nodeWith("steady", told("Running", up), ["a", "b"]);
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

describe("leftovers", () => {
  /** A node whose only pod has come and gone. */
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
    ["nothing", () => ({}), []],
    ["a sandbox and a container", () => ({ runtime: used().runtime }), ["sandbox of plain", "container main"]],
    ["a pod", () => ({ pods: used().pods }), ["pod demo/plain"]],
    ["a file of a pod", paths(({ rootDir }) => `${rootDir}/pods/uid-1`), ["path /var/lib/kubelet/pods/uid-1"]],
    ["a log", paths(({ podLogsDir }) => `${podLogsDir}/x`), ["path /var/log/pods/x"]],
    ["a link to a log", paths(({ containerLogsDir }) => `${containerLogsDir}/x`), ["path /var/log/containers/x"]],
    ["a mount of a pod", mount("/var/lib/kubelet/pods/uid-1/v"), ["mount /var/lib/kubelet/pods/uid-1/v"]],
    ["a mount of somebody else", mount("/mnt"), []],
    ["a file of nobody", paths(() => "/etc/passwd"), []],
    ["the cgroup of a pod", cgroup("/kubepods/burstable/poduid-1"), ["cgroup /kubepods/burstable/poduid-1"]],
    ["the cgroup of a QoS class", cgroup("/kubepods/burstable"), []],
    ["a worker", () => ({ telemetry: { value: () => 1 } }), ["1 pod workers"]],
  ])("%s", (_, change, found) => {
    const node = emptied();
    const { config, kubelet, pods, runtime, files, host, cgroups, telemetry, api } = node;
    const left = { config, kubelet, pods, runtime, files, host, cgroups, telemetry, api, ...change(node) };
    expect(leftovers(left)).toEqual(found);
  });

  it("timers", () => {
    expect([leftTimers({ scheduler: { pending: 0 } }), leftTimers({ scheduler: { pending: 2 } })]).toEqual([
      [],
      ["2 timers"],
    ]);
  });
});
