import { describe, expect, it } from "vitest";
import type { ApiContainerStatus, PodCondition, PodStatus } from "../../../../src/core/api.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { containerId, sandboxId } from "../../../../src/core/ids.ts";
import { generatePodStatus, type PodStatusInput } from "../../../../src/core/pod/status.ts";
import { container, exited, instance, pod, runtime, sandbox, sidecar, wall } from "../samples.ts";

const T0 = "2026-01-01T00:00:00Z";
const NOW = "2026-01-01T00:01:40Z";

const statusOf = (input: Partial<PodStatusInput>): PodStatus =>
  generatePodStatus({
    pod: pod(),
    runtime: runtime(),
    failures: new Map(),
    verdicts: new Map(),
    previous: undefined,
    now: wall(100),
    node: { hostIPs: ["192.0.2.10"] },
    ...input,
  });

const metadata = { name: "web", namespace: "default", uid: "uid" };
const condition = (type: string, status: string, more: Partial<PodCondition> = {}): unknown => ({
  type,
  status,
  lastProbeTime: null,
  lastTransitionTime: NOW,
  ...more,
});
const running = (name: string, more: Partial<ApiContainerStatus> = {}): ApiContainerStatus => ({
  name,
  state: { running: { startedAt: "2026-01-01T00:00:02Z" } },
  lastState: {},
  ready: true,
  restartCount: 0,
  image: `registry.test/${name}:1`,
  imageID: `registry.test/${name}@sha256:0${name}`,
  containerID: `containerd://${name}-0`,
  started: true,
  resources: {},
  ...more,
});
const waiting = (name: string, reason: string, more: Partial<ApiContainerStatus> = {}): ApiContainerStatus => ({
  name,
  state: { waiting: { reason } },
  lastState: {},
  ready: false,
  restartCount: 0,
  image: `registry.test/${name}:1`,
  imageID: "",
  started: false,
  ...more,
});
const terminatedState = (name: string, exitCode: number, reason: string, count = 0) => ({
  terminated: {
    exitCode,
    reason,
    startedAt: `2026-01-01T00:00:${String(2 + count * 10).padStart(2, "0")}Z`,
    finishedAt: "2026-01-01T00:00:05Z",
    containerID: `containerd://${name}-${count}`,
  },
});
const NOT_READY = { reason: "ContainersNotReady", message: "containers with unready status: [web]" };
/** The five conditions, with what differs from a pod in full health. */
const conditions = (changes: Readonly<Record<string, Partial<PodCondition>>> = {}): unknown[] =>
  ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) =>
    condition(type, "True", changes[type] ?? {}),
  );
const FALSE = { status: "False" };

describe("whole statuses", () => {
  it("a running pod, keys in the order of the API", () => {
    const status = statusOf({ runtime: runtime([instance("web")]) });
    expect(status).toEqual({
      phase: "Running",
      conditions: conditions(),
      hostIP: "192.0.2.10",
      hostIPs: [{ ip: "192.0.2.10" }],
      podIP: "10.0.0.2",
      podIPs: [{ ip: "10.0.0.2" }],
      startTime: T0,
      containerStatuses: [running("web")],
      qosClass: "BestEffort",
      resources: {},
    });
    expect(Object.keys(status)).toEqual([
      "phase",
      "conditions",
      "hostIP",
      "hostIPs",
      "podIP",
      "podIPs",
      "startTime",
      "containerStatuses",
      "qosClass",
      "resources",
    ]);
    expect(Object.keys(status.containerStatuses?.[0] ?? {})).toEqual([
      "name",
      "state",
      "lastState",
      "ready",
      "restartCount",
      "image",
      "imageID",
      "containerID",
      "started",
      "resources",
    ]);
  });

  it("without the gate PodReadyToStartContainersCondition: drops that condition", () => {
    const previous = statusOf({ runtime: runtime([instance("web")]) });
    const { conditions: reported } = statusOf({
      runtime: runtime([instance("web")]),
      previous,
      reportsReadyToStart: false,
    });
    expect(reported).toEqual(conditions().slice(1));
  });

  it("a pod that has not been synced yet", () => {
    expect(statusOf({ runtime: runtime([], []), node: { hostIPs: [] } })).toEqual({
      phase: "Pending",
      conditions: conditions({
        PodReadyToStartContainers: FALSE,
        Ready: { ...FALSE, ...NOT_READY },
        ContainersReady: { ...FALSE, ...NOT_READY },
      }),
      startTime: NOW,
      containerStatuses: [waiting("web", "ContainerCreating")],
      qosClass: "BestEffort",
      resources: {},
    });
  });

  it("a pod that completed, its sandbox stopped and its address remembered", () => {
    const status = statusOf({
      pod: pod({ restartPolicy: "Never" }),
      runtime: runtime([exited("web", 0)], [sandbox({ ready: false, ips: [] })]),
      previous: { startTime: T0, podIP: "10.0.0.2", podIPs: [{ ip: "10.0.0.2" }] },
    });
    expect(status).toEqual({
      phase: "Succeeded",
      conditions: conditions({
        PodReadyToStartContainers: FALSE,
        Initialized: { reason: "PodCompleted" },
        Ready: { ...FALSE, reason: "PodCompleted" },
        ContainersReady: { ...FALSE, reason: "PodCompleted" },
      }),
      hostIP: "192.0.2.10",
      hostIPs: [{ ip: "192.0.2.10" }],
      podIP: "10.0.0.2",
      podIPs: [{ ip: "10.0.0.2" }],
      startTime: T0,
      containerStatuses: [
        running("web", { state: terminatedState("web", 0, "Completed"), ready: false, started: false }),
      ],
      qosClass: "BestEffort",
      resources: {},
    });
  });

  it("carries its generation in the status and in every condition", () => {
    const status = statusOf({
      pod: pod({}, { metadata: { ...metadata, generation: 3 } }),
      runtime: runtime([instance("web")]),
    });
    expect(status.observedGeneration).toBe(3);
    expect(status.conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual([3, 3, 3, 3, 3]);
  });
});

describe("container statuses", () => {
  const webOf = (input: Partial<PodStatusInput>): ApiContainerStatus | undefined =>
    statusOf(input).containerStatuses?.[0];
  const crash = kubeletError("Backoff", "back-off 10s restarting failed container=web pod=web_default(uid)", {
    reason: "CrashLoopBackOff",
  });
  const failures = new Map([["web", crash]]);

  it("a terminated container shows its termination", () => {
    expect(webOf({ runtime: runtime([exited("web", 3, { message: "no config\n" })]) })).toEqual(
      running("web", {
        state: {
          terminated: {
            exitCode: 3,
            reason: "Error",
            message: "no config\n",
            startedAt: "2026-01-01T00:00:02Z",
            finishedAt: "2026-01-01T00:00:05Z",
            containerID: "containerd://web-0",
          },
        },
        ready: false,
        started: false,
      }),
    );
  });
  it("a restarted container shows the termination of the previous instance", () => {
    expect(webOf({ runtime: runtime([instance("web", { restartCount: 1 }), exited("web", 1)]) })).toEqual(
      running("web", {
        state: { running: { startedAt: "2026-01-01T00:00:12Z" } },
        lastState: terminatedState("web", 1, "Error"),
        restartCount: 1,
        containerID: "containerd://web-1",
      }),
    );
  });
  it("only the two newest instances count", () => {
    const instances = [2, 1, 0].map((restartCount) => exited("web", restartCount, { restartCount, reason: "Error" }));
    expect(webOf({ runtime: runtime(instances) })).toEqual(
      running("web", {
        state: terminatedState("web", 2, "Error", 2),
        lastState: terminatedState("web", 1, "Error", 1),
        restartCount: 2,
        containerID: "containerd://web-2",
        ready: false,
        started: false,
      }),
    );
  });
  it("a crash loop waits with its reason, and the termination moves to lastState", () => {
    expect(webOf({ runtime: runtime([exited("web", 1)]), failures })).toEqual(
      running("web", {
        state: { waiting: { reason: "CrashLoopBackOff", message: crash.message } },
        lastState: terminatedState("web", 1, "Error"),
        ready: false,
        started: false,
      }),
    );
  });
  it("a container whose image cannot be pulled waits with that reason", () => {
    const failure = kubeletError("NotFound", "not found", { reason: "ErrImagePull" });
    expect(webOf({ failures: new Map([["web", failure]]) })).toEqual({
      ...waiting("web", ""),
      state: { waiting: { reason: "ErrImagePull", message: "not found" } },
    });
  });
  it("a failure without text has no message", () => {
    const failure = kubeletError("Unknown", "", { reason: "RunContainerError" });
    expect(webOf({ failures: new Map([["web", failure]]) })).toEqual(waiting("web", "RunContainerError"));
  });
  it("an old failure does not hide a running container", () => {
    expect(webOf({ runtime: runtime([instance("web")]), failures })).toEqual(running("web"));
  });
  it("an old failure does not hide a completed container", () => {
    const input = { pod: pod({ restartPolicy: "Never" }), runtime: runtime([exited("web", 1)]), failures };
    expect(webOf(input)?.state).toEqual(terminatedState("web", 1, "Error"));
  });
  it.each([
    ["ContainerCreating", {}],
    ["PodInitializing", { initContainers: [{ name: "init" }] }],
  ])("a created container waits for %s", (reason, spec) => {
    const created = runtime([instance("web", { state: "created", startedAt: undefined })]);
    expect(webOf({ pod: pod(spec), runtime: created })).toEqual(
      running("web", { state: { waiting: { reason } }, ready: false, started: false }),
    );
  });
  it("a container in unknown state waits", () => {
    expect(webOf({ runtime: runtime([instance("web", { state: "unknown" })]) })?.state).toEqual({ waiting: {} });
  });
  it("a container in unknown state that ran before is terminated", () => {
    const before = running("web", { restartCount: 4 });
    expect(
      webOf({
        runtime: runtime([instance("web", { state: "unknown" })]),
        previous: { containerStatuses: [before] },
      }),
    ).toEqual(
      running("web", {
        state: {
          terminated: {
            exitCode: 137,
            reason: "ContainerStatusUnknown",
            message: "The container could not be located when the pod was terminated",
            startedAt: null as unknown as string,
            finishedAt: null as unknown as string,
          },
        },
        restartCount: 5,
        ready: false,
        started: false,
      }),
    );
  });
  it("a container that ran before and is gone counts as terminated", () => {
    expect(webOf({ previous: { containerStatuses: [running("web", { restartCount: 2 })] } })).toEqual(
      waiting("web", "ContainerCreating", {
        lastState: {
          terminated: {
            exitCode: 137,
            reason: "ContainerStatusUnknown",
            message: "The container could not be located when the pod was deleted.  The container used to be Running",
            startedAt: null as unknown as string,
            finishedAt: null as unknown as string,
          },
        },
        restartCount: 3,
      }),
    );
  });
  it("a reported termination outlives the instance in the runtime", () => {
    const before = running("web", { state: terminatedState("web", 0, "Completed"), ready: false, started: false });
    expect(webOf({ pod: pod({ restartPolicy: "Never" }), previous: { containerStatuses: [before] } })).toEqual(before);
  });
  it.each(["Succeeded", "Failed"])(
    "a termination reported before a restart of the kubelet outlives its instance, beside an earlier one: %s",
    (phase) => {
      const state = terminatedState("web", 0, "Completed", 1);
      const before = running("web", { state, ready: false, started: false, restartCount: 1 });
      const ended = pod({}, { status: { phase, containerStatuses: [before] } });
      const earlier = runtime([exited("web", 255, { reason: "Unknown" })]);
      expect(webOf({ pod: ended, runtime: earlier })).toEqual(before);
    },
  );
  it("a reported termination stays unless all containers were restarting", () => {
    const before = running("web", { state: terminatedState("web", 0, "Completed"), ready: false, started: false });
    const conditions = [
      { type: "Ready", status: "True" },
      { type: "AllContainersRestarting", status: "False" },
    ];
    const input = { pod: pod({ restartPolicy: "Never" }), previous: { containerStatuses: [before], conditions } };
    expect(webOf(input)).toEqual(before);
  });
  it("a waiting container keeps its count and last state", () => {
    const before = waiting("web", "ImagePullBackOff", {
      restartCount: 2,
      lastState: terminatedState("web", 1, "Error"),
    });
    expect(webOf({ previous: { containerStatuses: [before] } })).toEqual({
      ...before,
      state: { waiting: { reason: "ContainerCreating" } },
    });
  });
  it("the runtime's name prefixes container IDs", () => {
    const node = { hostIPs: [], runtimeName: "rxlet" };
    expect(webOf({ runtime: runtime([instance("web")]), node })?.containerID).toBe("rxlet://web-0");
  });
  it("a container that exited before it started has the epoch as its start", () => {
    const state = webOf({ runtime: runtime([exited("web", 128, { startedAt: undefined })]) })?.state;
    expect(state).toEqual({
      terminated: {
        exitCode: 128,
        reason: "Error",
        startedAt: "1970-01-01T00:00:00Z",
        finishedAt: "2026-01-01T00:00:05Z",
        containerID: "containerd://web-0",
      },
    });
  });
  it("shows known resources, mounts and user", () => {
    const spec = container("web", {
      resources: { limits: { cpu: "0.2", memory: "128Mi" }, requests: { cpu: "0.05" } },
      volumeMounts: [
        { name: "data", mountPath: "/data" },
        { name: "conf", mountPath: "/conf", readOnly: true },
        { name: "deep", mountPath: "/deep", readOnly: true, recursiveReadOnly: "IfPossible" },
        { name: "must", mountPath: "/must", readOnly: true, recursiveReadOnly: "Enabled" },
        { name: "open", mountPath: "/open", recursiveReadOnly: "Enabled" },
      ],
    });
    const user = { uid: 1000, gid: 1000, supplementalGroups: [1000, 2000] };
    const input = { pod: pod({ containers: [spec] }), runtime: runtime([instance("web", { user })]) };
    const node = { hostIPs: [], recursiveReadOnly: true };
    expect(webOf({ ...input, node })).toEqual(
      running("web", {
        allocatedResources: { cpu: "50m" },
        resources: { limits: { cpu: "200m", memory: "128Mi" }, requests: { cpu: "50m" } },
        volumeMounts: [
          { name: "data", mountPath: "/data" },
          { name: "conf", mountPath: "/conf", readOnly: true, recursiveReadOnly: "Disabled" },
          { name: "deep", mountPath: "/deep", readOnly: true, recursiveReadOnly: "Enabled" },
          { name: "must", mountPath: "/must", readOnly: true, recursiveReadOnly: "Enabled" },
          { name: "open", mountPath: "/open" },
        ],
        user: { linux: user },
      }),
    );
    expect(webOf(input)?.volumeMounts?.[2]?.recursiveReadOnly).toBe("Disabled");
  });
  it("omits a list of supplemental groups that is empty", () => {
    const user = { uid: 0, gid: 0, supplementalGroups: [] };
    expect(webOf({ runtime: runtime([instance("web", { user })]) })?.user).toEqual({ linux: { uid: 0, gid: 0 } });
  });
  it("a pod that is being deleted counts no restart for a container that is gone", () => {
    const input = { previous: { containerStatuses: [running("web", { restartCount: 2 })] } };
    const deleted = pod({}, { metadata: { ...metadata, deletionTimestamp: NOW } });
    expect([webOf(input)?.restartCount, webOf({ ...input, pod: deleted })?.restartCount]).toEqual([3, 2]);
  });
  it("a container that is gone keeps the last termination that was reported, and only one that ran is lost", () => {
    const ended = { lastState: terminatedState("web", 1, "Error") };
    const before = [running("web", ended), waiting("web", "ErrImagePull")];
    expect(before.map((each) => webOf({ previous: { containerStatuses: [each] } })?.lastState)).toEqual([
      ended.lastState,
      {},
    ]);
  });
  it.each([
    ["a completed container that its policy restarts", pod(), "web", 0],
    ["a failed init container", pod({ initContainers: [container("i1")] }), "i1", 1],
    ["a completed sidecar", pod({ initContainers: [sidecar("s")] }), "s", 0],
  ])("%s waits with its failure", (_, subject, name, code) => {
    const status = statusOf({
      pod: subject,
      runtime: runtime([exited(name, code)]),
      failures: new Map([[name, crash]]),
    });
    const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
    const found = all.find((each) => each.name === name);
    expect([found?.state?.waiting?.reason, found?.lastState?.terminated?.exitCode]).toEqual(["CrashLoopBackOff", code]);
  });
  it("shows the stop signal of a container that sets one", () => {
    const asking = pod({ containers: [container("web", { lifecycle: { stopSignal: "SIGUSR1" } })] });
    const known = runtime([instance("web", { stopSignal: "SIGUSR1" })]);
    expect([webOf({ pod: asking, runtime: known })?.stopSignal, webOf({ runtime: known })?.stopSignal]).toEqual([
      "SIGUSR1",
      undefined,
    ]);
  });
  it("keeps the order of the spec", () => {
    const subject = pod({ containers: [container("z"), container("a")] });
    const status = statusOf({ pod: subject, runtime: runtime([instance("a"), instance("z")]) });
    expect(status.containerStatuses).toEqual([running("z"), running("a")]);
  });
  it("ignores containers the spec does not name", () => {
    const status = statusOf({ runtime: runtime([instance("web"), instance("stray")]) });
    expect(status.containerStatuses).toEqual([running("web")]);
  });
  it("shows ephemeral containers without readiness", () => {
    const subject = pod({ ephemeralContainers: [{ name: "debug", image: "registry.test/debug:1" }] });
    const status = statusOf({ pod: subject, runtime: runtime([instance("web"), instance("debug")]) });
    const { started: _, ...expected } = running("debug", { ready: false });
    expect(status.ephemeralContainerStatuses).toEqual([expected]);
    const { started: __, ...absent } = waiting("debug", "ContainerCreating");
    expect(statusOf({ pod: subject }).ephemeralContainerStatuses).toEqual([absent]);
  });
});

describe("readiness", () => {
  const probe = { exec: { command: ["true"] } };
  const read = (input: Partial<PodStatusInput>) => {
    const status = statusOf(input).containerStatuses?.[0];
    return { started: status?.started, ready: status?.ready };
  };
  const verdict = { started: true, ready: true, live: true };
  const web = runtime([instance("web")]);
  const probed = (more: object) => pod({ containers: [container("web", more)] });
  const rows: readonly (readonly [string, Partial<PodStatusInput>, object])[] = [
    ["without probes a running container is ready", { runtime: web }, { started: true, ready: true }],
    [
      "a passed readiness probe makes it ready",
      { pod: probed({ readinessProbe: probe }), runtime: web, verdicts: new Map([["web", verdict]]) },
      { started: true, ready: true },
    ],
    [
      "a failed one does not",
      {
        pod: probed({ readinessProbe: probe }),
        runtime: web,
        verdicts: new Map([["web", { ...verdict, ready: false }]]),
      },
      { started: true, ready: false },
    ],
    [
      "one that has not spoken does not",
      { pod: probed({ readinessProbe: probe }), runtime: web },
      { started: true, ready: false },
    ],
    [
      "a startup probe that has not spoken holds it back",
      { pod: probed({ startupProbe: probe }), runtime: web },
      { started: false, ready: false },
    ],
    [
      "a container that has not started is not ready",
      { runtime: web, verdicts: new Map([["web", { ...verdict, started: false }]]) },
      { started: false, ready: false },
    ],
    [
      "a verdict on another instance counts as none",
      {
        pod: probed({ readinessProbe: probe }),
        runtime: web,
        verdicts: new Map([["web", { ...verdict, containerId: containerId("web-9") }]]),
      },
      { started: true, ready: false },
    ],
    [
      "a verdict on this instance counts",
      {
        pod: probed({ readinessProbe: probe }),
        runtime: web,
        verdicts: new Map([["web", { ...verdict, containerId: containerId("web-0") }]]),
      },
      { started: true, ready: true },
    ],
    [
      "a container that ended is neither",
      { runtime: runtime([exited("web", 0)]), verdicts: new Map([["web", verdict]]) },
      { started: false, ready: false },
    ],
  ];
  it.each(rows)("%s", (_title, input, expected) => {
    expect(read(input)).toEqual(expected);
  });
});

describe("init containers", () => {
  const subject = pod({ initContainers: [container("i1"), sidecar("s")] });
  it("wait with PodInitializing, and so do the regular ones", () => {
    const status = statusOf({ pod: subject });
    expect(status.initContainerStatuses).toEqual([waiting("i1", "PodInitializing"), waiting("s", "PodInitializing")]);
    expect(status.containerStatuses).toEqual([waiting("web", "PodInitializing")]);
    expect(status.phase).toBe("Pending");
    expect(status.conditions?.[1]).toEqual(
      condition("Initialized", "False", {
        reason: "ContainersNotInitialized",
        message: "containers with incomplete status: [i1 s]",
      }),
    );
  });
  it("are ready when done; a sidecar is ready when it runs", () => {
    const status = statusOf({ pod: subject, runtime: runtime([instance("s"), exited("i1", 0)]) });
    expect(status.initContainerStatuses).toEqual([
      running("i1", { state: terminatedState("i1", 0, "Completed"), started: false }),
      running("s"),
    ]);
    expect(status.conditions?.[1]).toEqual(condition("Initialized", "True"));
  });
  it("that run are started but not ready", () => {
    const status = statusOf({ pod: subject, runtime: runtime([instance("i1")]) });
    expect(status.initContainerStatuses?.[0]).toEqual(running("i1", { ready: false }));
  });
  it("that completed show no past failure", () => {
    const failures = new Map([["i1", kubeletError("Backoff", "back-off", { reason: "CrashLoopBackOff" })]]);
    const status = statusOf({ pod: subject, runtime: runtime([exited("i1", 0)]), failures });
    expect(status.initContainerStatuses?.[0]?.state).toEqual(terminatedState("i1", 0, "Completed"));
  });
  it.each<[string, string, string]>([
    ["Initialized", "True", "True"],
    ["Initialized", "False", "False"],
    ["Ready", "True", "False"],
  ])("that run again after %s was %s leave Initialized %s", (type, status, expected) => {
    const previous = { conditions: [{ type, status }] };
    const again = statusOf({ pod: subject, runtime: runtime([instance("i1")]), previous });
    expect(again.conditions?.find((each) => each.type === "Initialized")?.status).toBe(expected);
  });
  it("that restart later do not take Initialized back", () => {
    const status = statusOf({ pod: subject, runtime: runtime([instance("web"), exited("s", 1)]) });
    expect(status.conditions?.[1]).toEqual(condition("Initialized", "True"));
  });
});

describe("conditions", () => {
  const ready = (input: Partial<PodStatusInput>) =>
    statusOf(input).conditions?.filter(({ type }) => type === "Ready" || type === "ContainersReady");
  it("an unready sidecar makes the pod unready", () => {
    const input = {
      pod: pod({ initContainers: [sidecar("s")] }),
      runtime: runtime([instance("web"), exited("s", 1)]),
    };
    const more = { reason: "ContainersNotReady", message: "containers with unready status: [s]" };
    expect(ready(input)).toEqual([condition("Ready", "False", more), condition("ContainersReady", "False", more)]);
  });
  it("names of several unready containers are in one list", () => {
    const status = statusOf({ pod: pod({ containers: [container("a"), container("b")] }) });
    expect(status.conditions?.[2]).toEqual(
      condition("Ready", "False", {
        reason: "ContainersNotReady",
        message: "containers with unready status: [a b]",
      }),
    );
  });
  it("a failed pod has the reason PodFailed", () => {
    expect(ready({ pod: pod({ restartPolicy: "Never" }), runtime: runtime([exited("web", 1)]) })).toEqual([
      condition("Ready", "False", { reason: "PodFailed" }),
      condition("ContainersReady", "False", { reason: "PodFailed" }),
    ]);
  });
  it("readiness gates affect Ready, not ContainersReady", () => {
    const gates = [{ conditionType: "example.com/a" }, { conditionType: "example.com/b" }];
    const input = {
      pod: pod({ readinessGates: gates }, { status: { conditions: [{ type: "example.com/b", status: "False" }] } }),
      runtime: runtime([instance("web")]),
    };
    expect(statusOf(input).conditions).toEqual([
      { type: "example.com/b", status: "False" },
      ...conditions({
        Ready: {
          status: "False",
          reason: "ReadinessGatesNotReady",
          message:
            'corresponding condition of pod readiness gate "example.com/a" does not exist., the status of pod readiness gate "example.com/b" is not "True", but False',
        },
      }),
    ]);
  });
  it("those of the kubelet come from the node alone, those of others from the API server", () => {
    const own = [...conditions(), { type: "PodResizePending" }, { type: "PodResizeInProgress" }] as PodCondition[];
    const known = [...own, { type: "AllContainersRestarting" }, { type: "example.com/a" }] as PodCondition[];
    const stale = known.map((each) => ({ ...each, status: "Unknown", reason: "FromApi" }));
    const subject = pod({}, { status: { conditions: stale } });
    expect(statusOf({ pod: subject, runtime: runtime([instance("web")]) }).conditions).toEqual([
      { type: "example.com/a", status: "Unknown", reason: "FromApi" },
      ...conditions(),
    ]);
  });
  it("open readiness gates let the pod be ready", () => {
    const input = {
      pod: pod(
        { readinessGates: [{ conditionType: "example.com/a" }] },
        { status: { conditions: [{ type: "example.com/a", status: "True" }] } },
      ),
      runtime: runtime([instance("web")]),
    };
    expect(ready(input)).toEqual([condition("Ready", "True"), condition("ContainersReady", "True")]);
  });
  it("transition times stay as long as the status does", () => {
    const previous = {
      conditions: [
        { type: "Ready", status: "True", lastTransitionTime: T0 },
        { type: "ContainersReady", status: "False", lastTransitionTime: T0 },
      ],
    };
    expect(ready({ runtime: runtime([instance("web")]), previous })).toEqual([
      condition("Ready", "True", { lastTransitionTime: T0 }),
      condition("ContainersReady", "True"),
    ]);
  });
  it("a disruption by the kubelet is a DisruptionTarget condition, in place of the API's", () => {
    const status = statusOf({
      pod: pod({}, { status: { conditions: [{ type: "DisruptionTarget", status: "False" }] } }),
      runtime: runtime([instance("web")]),
      override: { phase: "Failed", reason: "Evicted", message: "low. ", disruption: "low. " },
    });
    expect(status.conditions?.[0]).toEqual(
      condition("DisruptionTarget", "True", { reason: "TerminationByKubelet", message: "low. " }),
    );
  });
  it("a DisruptionTarget condition is kept, in place of the API's", () => {
    const disruption = { type: "DisruptionTarget", status: "True", reason: "TerminationByKubelet" };
    const status = statusOf({
      pod: pod({}, { status: { conditions: [{ type: "DisruptionTarget", status: "False" }] } }),
      runtime: runtime([instance("web")]),
      previous: { conditions: [disruption] },
    });
    expect(status.conditions).toEqual([disruption, ...conditions()]);
  });
});

describe("termination messages", () => {
  it("share 12 KiB evenly, in the state and last state of every container", () => {
    const long = "m".repeat(7000);
    const subject = pod({ initContainers: [container("i")], containers: [container("web")] });
    const containers = [
      exited("web", 1, { restartCount: 1, message: long }),
      exited("web", 1, { message: `${"x".repeat(6143)}é` }),
      exited("i", 0, { message: long }),
    ];
    const status = statusOf({ pod: subject, runtime: runtime(containers) });
    const [web] = status.containerStatuses ?? [];
    const [init] = status.initContainerStatuses ?? [];
    expect([
      web?.state?.terminated?.message,
      web?.lastState?.terminated?.message,
      init?.state?.terminated?.message,
    ]).toEqual(["m".repeat(6144), "x".repeat(6143), "m".repeat(6144)]);
  });
});

describe("restart of all containers", () => {
  const rules = [{ action: "RestartAllContainers", exitCodes: { operator: "In", values: [88] } }];
  const subject = pod({
    restartPolicy: "Never",
    containers: [container("web"), container("src", { restartPolicy: "Never", restartPolicyRules: rules })],
  });
  const restarting = (status: PodStatus) => status.conditions?.find(({ type }) => type === "AllContainersRestarting");
  const TRUE = {
    status: "True",
    reason: "RestartAllContainersStarted",
    message: "container exited with restart policy rule",
  };

  it("is a condition only of pods whose rules allow it", () => {
    const running = statusOf({ pod: subject, runtime: runtime([instance("web"), instance("src")]) });
    const begun = statusOf({ pod: subject, runtime: runtime([instance("web"), exited("src", 88)]) });
    const done = statusOf({ pod: subject, runtime: runtime([exited("web", 0), exited("src", 0)]) });
    const failed = statusOf({ pod: subject, runtime: runtime([exited("web", 0), exited("src", 1)]) });
    expect([running, begun, done, failed, statusOf({})].map(restarting)).toEqual([
      condition("AllContainersRestarting", "False"),
      condition("AllContainersRestarting", "True", TRUE),
      condition("AllContainersRestarting", "False", { reason: "PodCompleted" }),
      condition("AllContainersRestarting", "False", { reason: "PodFailed" }),
      undefined,
    ]);
  });

  it("is a condition without generation", () => {
    const numbered = { ...subject, metadata: { ...metadata, generation: 3 } };
    const status = statusOf({ pod: numbered, runtime: runtime([instance("web"), instance("src")]) });
    expect([restarting(status), status.conditions?.[0]?.observedGeneration]).toEqual([
      condition("AllContainersRestarting", "False"),
      3,
    ]);
  });

  it("shows removed containers as waiting with one more restart, and the pod as Running", () => {
    const begun = statusOf({ pod: subject, runtime: runtime([instance("web"), exited("src", 88)]) });
    const cleared = statusOf({ pod: subject, runtime: runtime(), previous: begun });
    const after = statusOf({ pod: subject, runtime: runtime(), previous: cleared });
    const text = {
      reason: "RestartingAllContainers",
      message: "The container is removed because RestartAllContainers in place",
    };
    const lastState = { terminated: { exitCode: 137, ...text, startedAt: null, finishedAt: null } };
    const shown = ({ phase, containerStatuses = [] }: PodStatus) => ({
      phase,
      containers: containerStatuses.map(({ state, lastState, restartCount }) => ({ state, lastState, restartCount })),
    });
    const removed = { state: { waiting: text }, lastState, restartCount: 1 };
    const waits = { state: { waiting: { reason: "ContainerCreating" } }, lastState, restartCount: 1 };
    expect([shown(cleared), shown(after)]).toEqual([
      { phase: "Running", containers: [removed, removed] },
      { phase: "Running", containers: [waits, waits] },
    ]);
  });
});

describe("phase, reason and message", () => {
  const said = ({ phase, reason, message }: PodStatus) => ({ phase, reason, message });
  const evicted = { phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." } as const;
  const nothing = { reason: undefined, message: undefined };
  it("a terminal phase never changes", () => {
    const previous = { phase: "Failed" };
    expect(said(statusOf({ runtime: runtime([instance("web")]), previous }))).toEqual({ phase: "Failed", ...nothing });
  });
  it("a terminal phase that only the API server has never changes", () => {
    const subject = pod({}, { status: { phase: "Succeeded" } });
    expect(said(statusOf({ pod: subject }))).toEqual({ phase: "Succeeded", ...nothing });
  });
  it("a kubelet decision takes precedence over the containers", () => {
    expect(said(statusOf({ runtime: runtime([instance("web")]), override: evicted }))).toEqual(evicted);
  });
  it("a kubelet decision stays when it is not repeated", () => {
    expect(said(statusOf({ runtime: runtime([instance("web")]), previous: evicted }))).toEqual(evicted);
  });
  it.each<[string, number, Partial<PodStatusInput>, object]>([
    ["exit code 0: it succeeded", 0, {}, { phase: "Succeeded", ...nothing }],
    ["another exit code", 137, {}, evicted],
    [
      "exit code 0, before a status with the decision",
      0,
      { previous: { phase: "Running" } },
      { phase: "Succeeded", ...nothing },
    ],
    ["another exit code, before a status with the decision", 137, { previous: { phase: "Running" } }, evicted],
    ["exit code 0, known to the API server as failed", 0, { pod: pod({}, { status: evicted }) }, evicted],
    ["exit code 0 of a pod past its deadline", 0, { override: { ...evicted, outlastsContainers: true } }, evicted],
    ["exit code 0 while it is not known to be stopped for good", 0, { terminal: false }, evicted],
  ])("a pod that the kubelet decided to fail, with its containers stopped: %s", (_, code, more, expected) => {
    const stopped = { runtime: runtime([exited("web", code)]), terminal: true, previous: evicted, override: evicted };
    expect(said(statusOf({ ...stopped, ...more }))).toEqual(expected);
  });
  it.each<[string, boolean, number, object]>([
    ["stays when the pod has stopped", true, 1, { phase: "Succeeded", exitCode: 0, restartCount: 1 }],
    ["is that of an instance as late", true, 0, { phase: "Failed", exitCode: 7, restartCount: 0 }],
    ["is that of the earlier one while it may restart", false, 1, { phase: "Running", exitCode: 7, restartCount: 1 }],
  ])("the end of an instance that was removed before an earlier one %s", (_, terminal, restartCount, expected) => {
    const ended = statusOf({ runtime: runtime([exited("web", 0, { restartCount })]), terminal });
    const { phase, containerStatuses } = statusOf({
      runtime: runtime([exited("web", 7)]),
      terminal,
      previous: ended,
      override: terminal ? evicted : undefined,
    });
    const [status] = containerStatuses ?? [];
    const exitCode = status?.state?.terminated?.exitCode;
    expect({ phase, exitCode, restartCount: status?.restartCount }).toEqual(expected);
  });
  it.each<[string, boolean, object]>([
    ["stays when the pod has stopped", true, { phase: "Succeeded", terminated: 0, waiting: undefined }],
    [
      "gives way while it may start again",
      false,
      { phase: "Running", terminated: undefined, waiting: "RunContainerError" },
    ],
  ])("the end of a removed instance whose start had failed at first %s", (_, terminal, expected) => {
    const failures = new Map([["web", kubeletError("Unknown", "lost", { reason: "RunContainerError" })]]);
    const ended = statusOf({ runtime: runtime([exited("web", 0)]), terminal });
    const removed = statusOf({
      runtime: runtime([]),
      terminal,
      failures,
      previous: ended,
      override: terminal ? evicted : undefined,
    });
    const { phase, containerStatuses } = removed;
    const { terminated, waiting } = containerStatuses?.[0]?.state ?? {};
    expect({ phase, terminated: terminated?.exitCode, waiting: waiting?.reason }).toEqual(expected);
  });
  it("a decision without a phase only explains", () => {
    const override = { reason: "Waiting", message: "for volumes" };
    expect(said(statusOf({ runtime: runtime([]), override }))).toEqual({ phase: "Pending", ...override });
  });
  it("a terminal phase keeps its own reason and message", () => {
    const previous = { phase: "Failed", reason: "DeadlineExceeded", message: "too late" };
    expect(said(statusOf({ previous, override: evicted }))).toEqual(previous);
  });
  it("reason and message end with their phase", () => {
    const previous = { phase: "Pending", reason: "Waiting", message: "for volumes" };
    expect(said(statusOf({ runtime: runtime([instance("web")]), previous }))).toEqual({ phase: "Running", ...nothing });
  });
  it("a pod whose containers are stopped permanently is terminal", () => {
    expect(said(statusOf({ runtime: runtime([exited("web", 137)]), terminal: true }))).toEqual({
      phase: "Failed",
      ...nothing,
    });
  });
});

describe("addresses and start time", () => {
  const read = ({ hostIP, hostIPs, podIP, podIPs }: PodStatus) => ({ hostIP, hostIPs, podIP, podIPs });
  const dual = { hostIPs: ["192.0.2.10", "2001:db8::10"] };
  it("a host-network pod has the node's addresses", () => {
    expect(read(statusOf({ pod: pod({ hostNetwork: true }), runtime: runtime([], []), node: dual }))).toEqual({
      hostIP: "192.0.2.10",
      hostIPs: [{ ip: "192.0.2.10" }, { ip: "2001:db8::10" }],
      podIP: "192.0.2.10",
      podIPs: [{ ip: "192.0.2.10" }, { ip: "2001:db8::10" }],
    });
  });
  it("its primary address never changes", () => {
    const previous = { podIP: "192.0.2.9", podIPs: [{ ip: "192.0.2.9" }] };
    const status = statusOf({ pod: pod({ hostNetwork: true }), runtime: runtime([], []), node: dual, previous });
    expect(status.podIPs).toEqual([{ ip: "192.0.2.9" }, { ip: "2001:db8::10" }]);
  });
  it("pod addresses come in the order of the node's families, one of each", () => {
    const ips = ["2001:db8::2", "10.0.0.2", "10.0.0.3"];
    expect(statusOf({ runtime: runtime([], [sandbox({ ips })]) }).podIPs).toEqual([
      { ip: "10.0.0.2" },
      { ip: "2001:db8::2" },
    ]);
  });
  it("a new sandbox without an address does not show that of the old one", () => {
    const previous = { podIPs: [{ ip: "10.0.0.2" }] };
    expect(statusOf({ runtime: runtime([], [sandbox({ ips: [] })]), previous }).podIPs).toBeUndefined();
  });
  it("the start time never changes", () => {
    expect(statusOf({ previous: { startTime: "2025-12-31T00:00:00Z" } }).startTime).toBe("2025-12-31T00:00:00Z");
  });
  it("the oldest sandbox provides the start time after a restart of the kubelet", () => {
    const sandboxes = [
      sandbox({ attempt: 1, createdAt: wall(60) }),
      sandbox({ id: sandboxId("old"), ready: false, createdAt: wall(20) }),
    ];
    expect(statusOf({ runtime: runtime([], sandboxes) }).startTime).toBe("2026-01-01T00:00:20Z");
  });
  it("the start time is not in the future after the clock is set back", () => {
    expect(statusOf({ runtime: runtime([], [sandbox({ createdAt: wall(900) })]) }).startTime).toBe(NOW);
  });
});

describe("resources of the pod", () => {
  const resources = (requests: Record<string, string>, limits: Record<string, string> = {}) => ({ requests, limits });
  it("are the larger of all regular containers and sidecars together, and any one init container", () => {
    const status = statusOf({
      pod: pod({
        initContainers: [
          sidecar("s", { resources: resources({ cpu: "100m" }) }),
          container("i", { resources: resources({ cpu: "50m", memory: "1Gi" }) }),
        ],
        containers: [
          container("a", { resources: resources({ cpu: "200m", memory: "32Mi" }, { cpu: "1", memory: "64Mi" }) }),
          container("b", { resources: resources({ cpu: "100m", "ephemeral-storage": "1Gi" }) }),
        ],
      }),
    });
    expect([status.allocatedResources, status.resources]).toEqual([
      { cpu: "400m", "ephemeral-storage": "1Gi", memory: "1Gi" },
      {
        limits: { cpu: "1", memory: "64Mi" },
        requests: { cpu: "400m", "ephemeral-storage": "1Gi", memory: "1Gi" },
      },
    ]);
  });
  it.each([
    ["API server", "api", { cpu: "1", "hugepages-2Mi": "2Mi" }],
    ["node's own manifests", "file", { cpu: "1", "ephemeral-storage": "1Gi", "hugepages-2Mi": "2Mi" }],
  ])("of an admitted pod of the %s are %s, %j", (_title, source, requests) => {
    const running = { phase: "Running", conditions: [] } as const;
    const stated = { cpu: "1", "ephemeral-storage": "1Gi" };
    const status = statusOf({
      pod: pod(
        {
          resources: resources({ "hugepages-2Mi": "2Mi" }),
          containers: [container("a", { resources: resources(stated) })],
        },
        { metadata: { ...pod().metadata, annotations: { "kubernetes.io/config.source": source } } },
      ),
      previous: running,
    });
    expect(status.resources).toEqual({ requests });
  });
  it("are those of the pod itself where it states any, overhead on top of requests and of limits there are", () => {
    const status = statusOf({
      pod: pod({
        resources: resources({ cpu: "2" }, { cpu: "3" }),
        overhead: { cpu: "250m", memory: "1Mi" },
        containers: [container("a", { resources: resources({ cpu: "1", memory: "1Mi" }) })],
      }),
    });
    expect([status.allocatedResources, status.resources]).toEqual([
      { cpu: "2250m", memory: "2Mi" },
      { limits: { cpu: "3250m" }, requests: { cpu: "2250m", memory: "2Mi" } },
    ]);
  });
  it("in force are reported beside those granted during a resize", () => {
    const sized = (cpu: string) => pod({ containers: [container("web", { resources: resources({ cpu }, { cpu }) })] });
    const status = statusOf({ pod: sized("2"), actual: sized("1"), runtime: runtime([instance("web")]) });
    const reported = [status, status.containerStatuses?.[0]].map((of) => [of?.allocatedResources, of?.resources]);
    const oneCpu = { limits: { cpu: "1" }, requests: { cpu: "1" } };
    expect(reported).toEqual([
      [{ cpu: "2" }, oneCpu],
      [{ cpu: "2" }, oneCpu],
    ]);
  });
  it("of a container that does not run are those granted", () => {
    const sized = (cpu: string) => pod({ containers: [container("web", { resources: resources({ cpu }) })] });
    const status = statusOf({ pod: sized("2"), actual: sized("1"), runtime: runtime([exited("web", 0)]) });
    expect(status.containerStatuses?.[0]?.resources).toEqual({ requests: { cpu: "2" } });
  });
});

describe("resize conditions", () => {
  const refused = { reason: "Deferred", message: "full", generation: 3 } as const;
  const of = (input: Partial<PodStatusInput>) =>
    statusOf(input).conditions?.filter(({ type }) => type.startsWith("PodResize"));
  const pending = condition("PodResizePending", "True", {
    observedGeneration: 3,
    lastProbeTime: NOW,
    reason: "Deferred",
    message: "full",
  });

  it("report a pending resize before one in progress, each with its generation", () => {
    expect(of({ resize: { refused, inProgress: { generation: 2 } } })).toEqual([
      pending,
      condition("PodResizeInProgress", "True", { observedGeneration: 2, lastProbeTime: NOW }),
    ]);
  });
  it("report why a granted size is not in force", () => {
    expect(of({ resize: { inProgress: { generation: undefined, error: "no" } } })).toEqual([
      condition("PodResizeInProgress", "True", { lastProbeTime: NOW, reason: "Error", message: "no" }),
    ]);
  });
  it("keep their times while unchanged, and the transition time while the reason is the same", () => {
    const previous = statusOf({ resize: { refused } });
    const later = { previous, now: wall(200) };
    const reported = (resize: PodStatusInput["resize"]) => of({ ...later, ...(resize && { resize }) });
    expect(reported({ refused })).toEqual([pending]);
    expect(reported({ refused: { ...refused, message: "fuller" } })).toEqual([
      { ...(pending as object), message: "fuller", lastProbeTime: "2026-01-01T00:03:20Z" },
    ]);
    expect(reported({ refused: { ...refused, reason: "Infeasible" } })?.[0]?.lastTransitionTime).toBe(
      "2026-01-01T00:03:20Z",
    );
  });
  it("disappear when no resize is pending, even if the API object still has them", () => {
    const status = statusOf({ resize: { refused } });
    expect(of({ pod: pod({}, { status }) })).toEqual([]);
  });
});
