import { describe, expect, it } from "vitest";
import type { ApiContainerStatus, Container, Pod, PodStatus } from "../../../../src/core/api.ts";
import { epochMs } from "../../../../src/core/ids.ts";
import { podRow } from "../../../../src/core/pod/podRow.ts";

const NOW = epochMs(Date.UTC(2026, 10, 21, 12, 0, 0));
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();

type State = NonNullable<ApiContainerStatus["state"]>;
type Ended = Partial<NonNullable<State["terminated"]>>;

const running: State = { running: { startedAt: ago(60) } };
const waiting = (reason: string): State => ({ waiting: { reason } });
const ended = (terminated: Ended): State => ({ terminated: { exitCode: 0, ...terminated } });
const completed = ended({ reason: "Completed" });

const status = (name: string, state: State, more: Partial<ApiContainerStatus> = {}): ApiContainerStatus => ({
  name,
  state,
  ready: state.running !== undefined,
  started: state.running !== undefined,
  restartCount: 0,
  image: "i",
  imageID: "i",
  ...more,
});
const restarted = (restartCount: number, secondsAgo: number): Partial<ApiContainerStatus> => ({
  restartCount,
  lastState: { terminated: { exitCode: 1, finishedAt: ago(secondsAgo) } },
});

interface Given {
  readonly containers?: readonly string[];
  readonly inits?: readonly string[];
  readonly sidecars?: readonly string[];
  readonly status?: PodStatus;
  readonly deleted?: boolean;
  readonly created?: string;
}

/** Init containers come in the order plain ones, then sidecars. */
function pod({ containers = ["a"], inits = [], sidecars = [], status: podStatus, deleted, created }: Given): Pod {
  const container = (name: string): Container => ({ name, image: "i" });
  const initContainers = [
    ...inits.map(container),
    ...sidecars.map((name) => ({ ...container(name), restartPolicy: "Always" })),
  ];
  return {
    metadata: {
      name: "web",
      namespace: "default",
      uid: "u",
      ...(created === undefined ? {} : { creationTimestamp: created }),
      ...(deleted === true ? { deletionTimestamp: ago(1) } : {}),
    },
    spec: { containers: containers.map(container), ...(initContainers.length === 0 ? {} : { initContainers }) },
    ...(podStatus === undefined ? {} : { status: podStatus }),
  };
}

const READY: PodStatus["conditions"] = [{ type: "Ready", status: "True" }];
const INITIALIZED: PodStatus["conditions"] = [{ type: "Initialized", status: "True" }];

/** `ready status restarts` of a pod. */
function cells(given: Given): string {
  const row = podRow(pod(given), NOW);
  return `${row.ready} ${row.status} ${row.restarts}`;
}

describe("podRow: status, ready and restarts by kubectl's rules", () => {
  it.each<[rule: string, expected: string, given: Given]>([
    ["a pod without any status is blank", "0/1  0", {}],
    ["the phase counts without container statuses", "0/1 Pending 0", { status: { phase: "Pending" } }],
    [
      "the reason of the pod goes before its phase",
      "0/1 Evicted 0",
      { status: { phase: "Failed", reason: "Evicted" } },
    ],
    [
      "an admission refusal shows its reason",
      "0/1 OutOfcpu 0",
      { status: { phase: "Failed", reason: "OutOfcpu", message: "Node didn't have enough resource: cpu" } },
    ],
    [
      "a gated pod says so",
      "0/1 SchedulingGated 0",
      {
        status: {
          phase: "Pending",
          conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }],
        },
      },
    ],
    [
      "a running and ready container counts",
      "1/1 Running 0",
      { status: { phase: "Running", containerStatuses: [status("a", running)] } },
    ],
    [
      "a running container that is not ready does not count",
      "0/1 Running 0",
      { status: { phase: "Running", containerStatuses: [status("a", running, { ready: false })] } },
    ],
    [
      "a waiting container gives its reason",
      "0/1 ContainerCreating 0",
      { status: { phase: "Pending", containerStatuses: [status("a", waiting("ContainerCreating"))] } },
    ],
    [
      "a pull that failed",
      "0/1 ErrImagePull 0",
      { status: { phase: "Pending", containerStatuses: [status("a", waiting("ErrImagePull"))] } },
    ],
    [
      "a pull that waits",
      "0/1 ImagePullBackOff 0",
      { status: { phase: "Pending", containerStatuses: [status("a", waiting("ImagePullBackOff"))] } },
    ],
    [
      "a crash loop, with the age of the last crash",
      "0/1 CrashLoopBackOff 3 (20s ago)",
      { status: { phase: "Running", containerStatuses: [status("a", waiting("CrashLoopBackOff"), restarted(3, 20))] } },
    ],
    [
      "a waiting container without a reason leaves the phase",
      "0/1 Pending 0",
      { status: { phase: "Pending", containerStatuses: [status("a", { waiting: {} })] } },
    ],
    [
      "a finished job",
      "0/1 Completed 0",
      { status: { phase: "Succeeded", containerStatuses: [status("a", completed)] } },
    ],
    [
      "a failed container gives its reason",
      "0/1 Error 0",
      { status: { phase: "Failed", containerStatuses: [status("a", ended({ exitCode: 1, reason: "Error" }))] } },
    ],
    [
      "an OOM kill shows",
      "0/1 OOMKilled 0",
      { status: { phase: "Failed", containerStatuses: [status("a", ended({ exitCode: 137, reason: "OOMKilled" }))] } },
    ],
    [
      "without a reason the signal counts",
      "0/1 Signal:9 0",
      { status: { phase: "Failed", containerStatuses: [status("a", ended({ exitCode: 137, signal: 9 }))] } },
    ],
    [
      "without reason and signal the exit code counts",
      "0/1 ExitCode:3 0",
      { status: { phase: "Failed", containerStatuses: [status("a", ended({ exitCode: 3, signal: 0, reason: "" }))] } },
    ],
    [
      "the first container in the list has the last word",
      "0/2 CrashLoopBackOff 0",
      {
        containers: ["a", "b"],
        status: {
          phase: "Running",
          containerStatuses: [status("a", waiting("CrashLoopBackOff")), status("b", waiting("ErrImagePull"))],
        },
      },
    ],
    [
      "a completed container beside a running one of a ready pod is Running",
      "1/2 Running 0",
      {
        containers: ["a", "b"],
        status: {
          phase: "Running",
          conditions: READY,
          containerStatuses: [status("a", completed), status("b", running)],
        },
      },
    ],
    [
      "the same in a pod that is not ready is NotReady",
      "1/2 NotReady 0",
      {
        containers: ["a", "b"],
        status: { phase: "Running", containerStatuses: [status("a", completed), status("b", running)] },
      },
    ],
    [
      "restarts of containers add up and the latest counts",
      "2/2 Running 5 (10s ago)",
      {
        containers: ["a", "b"],
        status: {
          phase: "Running",
          containerStatuses: [status("a", running, restarted(2, 10)), status("b", running, restarted(3, 90))],
        },
      },
    ],
    [
      "restarts without a known time have no age",
      "1/1 Running 2",
      { status: { phase: "Running", containerStatuses: [status("a", running, { restartCount: 2 })] } },
    ],
    [
      "the first init container runs",
      "0/1 Init:0/2 0",
      {
        inits: ["i", "j"],
        status: {
          phase: "Pending",
          initContainerStatuses: [status("i", running), status("j", waiting("PodInitializing"))],
          containerStatuses: [status("a", waiting("PodInitializing"))],
        },
      },
    ],
    [
      "the second init container waits to start",
      "0/1 Init:1/2 0",
      {
        inits: ["i", "j"],
        status: {
          phase: "Pending",
          initContainerStatuses: [status("i", completed), status("j", waiting("PodInitializing"))],
          containerStatuses: [status("a", waiting("PodInitializing"))],
        },
      },
    ],
    [
      "all init containers are done, the rest starts",
      "0/1 PodInitializing 0",
      {
        inits: ["i"],
        status: {
          phase: "Pending",
          initContainerStatuses: [status("i", completed)],
          containerStatuses: [status("a", waiting("PodInitializing"))],
        },
      },
    ],
    [
      "an init container in a crash loop, with its restarts",
      "0/1 Init:CrashLoopBackOff 4 (30s ago)",
      {
        inits: ["i"],
        status: {
          phase: "Pending",
          initContainerStatuses: [status("i", waiting("CrashLoopBackOff"), restarted(4, 30))],
          containerStatuses: [status("a", waiting("PodInitializing"))],
        },
      },
    ],
    [
      "an init container that failed",
      "0/1 Init:Error 0",
      {
        inits: ["i"],
        status: { phase: "Failed", initContainerStatuses: [status("i", ended({ exitCode: 1, reason: "Error" }))] },
      },
    ],
    [
      "an init container that failed by a signal",
      "0/1 Init:Signal:15 0",
      {
        inits: ["i"],
        status: { phase: "Failed", initContainerStatuses: [status("i", ended({ exitCode: 143, signal: 15 }))] },
      },
    ],
    [
      "an init container that failed without a reason",
      "0/1 Init:ExitCode:2 0",
      {
        inits: ["i"],
        status: { phase: "Failed", initContainerStatuses: [status("i", ended({ exitCode: 2 }))] },
      },
    ],
    [
      "an init container whose image cannot be pulled",
      "0/1 Init:ImagePullBackOff 0",
      {
        inits: ["i"],
        status: { phase: "Pending", initContainerStatuses: [status("i", waiting("ImagePullBackOff"))] },
      },
    ],
    [
      "restarts of init containers are forgotten once they are done",
      "1/1 Running 0",
      {
        inits: ["i"],
        status: {
          phase: "Running",
          initContainerStatuses: [status("i", completed, restarted(4, 30))],
          containerStatuses: [status("a", running)],
        },
      },
    ],
    [
      "a started and ready sidecar counts as ready",
      "2/2 Running 0",
      {
        sidecars: ["s"],
        status: {
          phase: "Running",
          initContainerStatuses: [status("s", running)],
          containerStatuses: [status("a", running)],
        },
      },
    ],
    [
      "a started sidecar that is not ready does not count",
      "1/2 Running 0",
      {
        sidecars: ["s"],
        status: {
          phase: "Running",
          initContainerStatuses: [status("s", running, { ready: false })],
          containerStatuses: [status("a", running)],
        },
      },
    ],
    [
      "a sidecar that has not started holds up initialization",
      "0/2 Init:0/1 0",
      {
        sidecars: ["s"],
        status: {
          phase: "Pending",
          initContainerStatuses: [status("s", running, { started: false, ready: false })],
          containerStatuses: [status("a", waiting("PodInitializing"))],
        },
      },
    ],
    [
      "restarts of sidecars stay",
      "2/2 Running 3 (5s ago)",
      {
        inits: ["i"],
        sidecars: ["s"],
        status: {
          phase: "Running",
          initContainerStatuses: [status("i", completed, restarted(9, 1)), status("s", running, restarted(2, 5))],
          containerStatuses: [status("a", running, restarted(1, 40))],
        },
      },
    ],
    [
      "a sidecar that crashes in an initialized pod is said, and running containers still count",
      "1/2 Init:CrashLoopBackOff 1 (7s ago)",
      {
        sidecars: ["s"],
        status: {
          phase: "Running",
          conditions: INITIALIZED,
          initContainerStatuses: [
            status("s", waiting("CrashLoopBackOff"), { ...restarted(1, 7), started: false, ready: false }),
          ],
          containerStatuses: [status("a", running)],
        },
      },
    ],
    [
      "a deleted pod is Terminating",
      "1/1 Terminating 0",
      { deleted: true, status: { phase: "Running", containerStatuses: [status("a", running)] } },
    ],
    [
      "a deleted pod that has ended keeps its word",
      "0/1 Completed 0",
      { deleted: true, status: { phase: "Succeeded", containerStatuses: [status("a", completed)] } },
    ],
    [
      "a deleted pod on a lost node is Unknown",
      "0/1 Unknown 0",
      { deleted: true, status: { phase: "Running", reason: "NodeLost" } },
    ],
  ])("%s: %s", (_rule, expected, given) => {
    expect(cells(given)).toBe(expected);
  });
});

describe("podRow: the whole row", () => {
  it("has name, namespace, age since creation and the first address", () => {
    const given: Given = {
      created: ago(3 * 60 + 5),
      status: {
        phase: "Running",
        podIPs: [{ ip: "10.0.0.7" }, { ip: "fd00::7" }],
        containerStatuses: [status("a", running)],
      },
    };
    expect(podRow(pod(given), NOW)).toEqual({
      namespace: "default",
      name: "web",
      ready: "1/1",
      status: "Running",
      restartCount: 0,
      restarts: "0",
      age: "3m5s",
      ip: "10.0.0.7",
    });
  });

  it.each<[rule: string, expected: string, given: Given]>([
    ["a static pod ages from its start", "40s", { status: { startTime: ago(40) } }],
    ["an unknown start is <unknown>", "<unknown>", {}],
    ["a creation in the future is <invalid>", "<invalid>", { created: ago(-30) }],
  ])("%s", (_rule, expected, given) => {
    expect(podRow(pod(given), NOW).age).toBe(expected);
  });

  it("shows <none> without an address", () => {
    expect(podRow(pod({ status: { podIPs: [] } }), NOW).ip).toBe("<none>");
  });
});
