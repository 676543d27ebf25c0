import { describe, expect, it } from "vitest";
import type { Container } from "../../../../src/core/api.ts";
import {
  containerBackoffKey,
  DEFAULT_CRASH_LOOP_POLICY,
  type ContainerBackoffs,
} from "../../../../src/core/backoff.ts";
import { containerSpecHash } from "../../../../src/core/container/specHash.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { containerId, sandboxId } from "../../../../src/core/ids.ts";
import { computePodActions } from "../../../../src/core/pod/podActions.ts";
import type {
  ContainerKill,
  ContainerStart,
  PodActions,
  PodActionsInput,
  ProbeVerdict,
} from "../../../../src/core/pod/podActionsTypes.ts";
import type { RuntimeContainer, RuntimeSandbox } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { formatInstant } from "../../../../src/core/time/civilTime.ts";
import { container, exited, instance, mono, pod, runtime, sandbox, sidecar, wall } from "../samples.ts";

const IDLE: PodActions = {
  killPod: false,
  createSandbox: false,
  sandboxId: sandboxId("sb"),
  attempt: 0,
  initContainersToStart: [],
  containersToStart: [],
  ephemeralContainersToStart: [],
  containersToKill: [],
  waits: [],
  containersToReset: [],
};

/** A rule: the situation, and how the plan differs from doing nothing. */
type Row = readonly [title: string, situation: Partial<PodActionsInput>, plan: Partial<PodActions>];

const keyOf = (spec: Container): string => containerBackoffKey(spec.name, containerSpecHash(spec));

const start = (name: string, restartCount = 0, exitedAtS?: number): ContainerStart => ({
  name,
  kind: "regular",
  restartCount,
  ...(exitedAtS === undefined ? {} : { backoff: { key: keyOf(container(name)), exitedAt: mono(exitedAtS) } }),
});
const startInit = (name: string, restartCount = 0, exitedAtS?: number): ContainerStart => ({
  ...start(name, restartCount, exitedAtS),
  kind: "init",
});
const kill = (id: string, message: string, reason: ContainerKill["reason"]): ContainerKill => ({
  containerId: containerId(id),
  name: id.slice(0, id.lastIndexOf("-")),
  message,
  reason,
});
const verdicts = (name: string, verdict: Partial<ProbeVerdict>): ReadonlyMap<string, ProbeVerdict> =>
  new Map([[name, { started: true, ready: true, live: true, ...verdict }]]);

function check(rows: readonly Row[]): void {
  it.each(rows)("%s", (_title, situation, plan) => {
    const input: PodActionsInput = {
      pod: pod(),
      runtime: runtime(),
      verdicts: new Map(),
      resizeRestarts: new Set(),
      backoffs: new Map(),
      backoffPolicy: DEFAULT_CRASH_LOOP_POLICY,
      now: mono(100),
      ...situation,
    };
    expect(computePodActions(input)).toEqual({ ...IDLE, ...plan });
  });
}

const NEW_SANDBOX: Partial<PodActions> = { killPod: true, createSandbox: true, attempt: 1 };
const STOP_POD: Partial<PodActions> = { killPod: true };
const dead: readonly RuntimeSandbox[] = [sandbox({ ready: false })];
const never = pod({ restartPolicy: "Never" });
const onFailure = pod({ restartPolicy: "OnFailure" });
const two = [container("a"), container("b")];

describe("sandbox", () => {
  check([
    [
      "a new pod gets its first sandbox and its containers",
      { runtime: runtime([], []) },
      { ...NEW_SANDBOX, attempt: 0, sandboxId: undefined, containersToStart: [start("web")] },
    ],
    ["a ready sandbox with everything running is left alone", { runtime: runtime([instance("web")]) }, {}],
    [
      "a sandbox that is not ready is replaced, attempt + 1",
      { runtime: runtime([instance("web")], dead) },
      { ...NEW_SANDBOX, containersToStart: [start("web", 1)] },
    ],
    [
      "attempts go on from the newest sandbox",
      {
        runtime: runtime([], [sandbox({ ready: false, attempt: 4 }), sandbox({ id: sandboxId("old"), ready: false })]),
      },
      { ...NEW_SANDBOX, attempt: 5, containersToStart: [start("web")] },
    ],
    [
      "more than one ready sandbox is one too many",
      { runtime: runtime([], [sandbox({ attempt: 1 }), sandbox({ id: sandboxId("old") })]) },
      { ...NEW_SANDBOX, attempt: 2, containersToStart: [start("web")] },
    ],
    [
      "a ready sandbox that is not the newest does not count",
      { runtime: runtime([], [sandbox({ attempt: 1, ready: false }), sandbox({ id: sandboxId("old") })]) },
      { ...NEW_SANDBOX, attempt: 2, containersToStart: [start("web")] },
    ],
    [
      "a pod that moved to the host network needs another sandbox",
      { pod: pod({ hostNetwork: true }) },
      { ...NEW_SANDBOX, containersToStart: [start("web")] },
    ],
    [
      "a pod that left the host network needs another sandbox",
      { runtime: runtime([], [sandbox({ hostNetwork: true, ips: [] })]) },
      { ...NEW_SANDBOX, containersToStart: [start("web")] },
    ],
    [
      "a ready sandbox without an address is replaced",
      { runtime: runtime([instance("web")], [sandbox({ ips: [] })]) },
      { ...NEW_SANDBOX, containersToStart: [start("web", 1)] },
    ],
    [
      "a host-network sandbox needs no address",
      {
        pod: pod({ hostNetwork: true }),
        runtime: runtime([instance("web")], [sandbox({ hostNetwork: true, ips: [] })]),
      },
      {},
    ],
    [
      "a missing address says nothing when the runtime tells nothing of the network",
      { runtime: runtime([instance("web")], [sandbox({ ips: [], networkUnknown: true })]) },
      {},
    ],
    [
      "restart policy Never: a pod that ran is not run again in a new sandbox",
      { pod: never, runtime: runtime([exited("web", 1)], dead) },
      { ...STOP_POD, attempt: 1 },
    ],
    [
      "restart policy Never: a container that ran in the lost sandbox is not run again either",
      { pod: never, runtime: runtime([instance("web")], dead) },
      { ...STOP_POD, attempt: 1 },
    ],
    [
      "restart policy Never: a sandbox that died before any container is replaced",
      { pod: never, runtime: runtime([], dead) },
      { ...NEW_SANDBOX, containersToStart: [start("web")] },
    ],
    [
      "restart policy Never: nothing reruns after every sandbox was removed",
      { pod: never, runtime: runtime([exited("web", 0)], []) },
      { ...STOP_POD, sandboxId: undefined },
    ],
    [
      "restart policy OnFailure: only what did not succeed starts in the new sandbox",
      {
        pod: pod({ restartPolicy: "OnFailure", containers: two }),
        runtime: runtime([exited("a", 0), exited("b", 1)], dead),
      },
      { ...NEW_SANDBOX, containersToStart: [start("b", 1, 5)] },
    ],
    [
      "restart policy OnFailure: no sandbox when everything succeeded",
      { pod: onFailure, runtime: runtime([exited("web", 0)], dead) },
      { ...STOP_POD, attempt: 1 },
    ],
    [
      "restart policy OnFailure: a container of unknown state in a lost sandbox starts again",
      { pod: onFailure, runtime: runtime([instance("web", { state: "unknown" })], dead) },
      { ...NEW_SANDBOX, containersToStart: [start("web", 1)] },
    ],
    [
      "restart policy Always: a container that succeeded starts again in the new sandbox",
      { runtime: runtime([exited("web", 0)], dead) },
      { ...NEW_SANDBOX, containersToStart: [start("web", 1, 5)] },
    ],
    [
      "a new sandbox initializes the pod anew, first init container only",
      {
        pod: pod({ initContainers: [container("i1"), container("i2")] }),
        runtime: runtime([instance("web"), exited("i2", 0), exited("i1", 0)], dead),
      },
      { ...NEW_SANDBOX, initContainersToStart: [startInit("i1", 1)] },
    ],
    [
      "no initialization for a pod that is done",
      {
        pod: pod({ restartPolicy: "OnFailure", initContainers: [container("i1")] }),
        runtime: runtime([exited("web", 0), exited("i1", 0)], dead),
      },
      { ...STOP_POD, attempt: 1 },
    ],
    [
      "a pod-level Never with a container that may restart gets its sandbox back",
      {
        pod: pod({ restartPolicy: "Never", containers: [container("a", { restartPolicy: "Always" }), container("b")] }),
        runtime: runtime([exited("a", 1), exited("b", 0)], dead),
      },
      { ...NEW_SANDBOX, containersToStart: [start("a", 1, 5)] },
    ],
    [
      "ephemeral containers do not start in a sandbox that is yet to come",
      { pod: pod({ ephemeralContainers: [{ name: "debug" }] }), runtime: runtime([], dead) },
      { ...NEW_SANDBOX, containersToStart: [start("web")] },
    ],
    [
      "a crash loop is waited out in the new sandbox, too",
      {
        runtime: runtime([exited("web", 1, { at: 95 })], dead),
        backoffs: new Map([[keyOf(container("web")), { delayMs: 10_000, updatedAt: mono(90) }]]),
      },
      {
        ...NEW_SANDBOX,
        waits: [
          {
            name: "web",
            until: mono(105),
            error: kubeletError(
              "Backoff",
              "back-off 10s restarting failed container=web pod=web_default(uid) next-try=2026-01-01T00:01:45Z",
              { reason: "CrashLoopBackOff" },
            ),
          },
        ],
      },
    ],
  ]);
});

describe("regular containers", () => {
  check([
    ["what never started is started", {}, { containersToStart: [start("web")] }],
    [
      "containers start in the order of the spec",
      { pod: pod({ containers: two }) },
      { containersToStart: [start("a"), start("b")] },
    ],
    [
      "only what is missing is started",
      { pod: pod({ containers: two }), runtime: runtime([instance("a")]) },
      { containersToStart: [start("b")] },
    ],
    [
      "Always restarts a success",
      { runtime: runtime([exited("web", 0)]) },
      { containersToStart: [start("web", 1, 5)] },
    ],
    [
      "Always restarts a failure",
      { runtime: runtime([exited("web", 1)]) },
      { containersToStart: [start("web", 1, 5)] },
    ],
    [
      "OnFailure restarts a failure",
      { pod: onFailure, runtime: runtime([exited("web", 1)]) },
      { containersToStart: [start("web", 1, 5)] },
    ],
    [
      "OnFailure leaves a success, and stops the pod",
      { pod: onFailure, runtime: runtime([exited("web", 0)]) },
      STOP_POD,
    ],
    ["Never leaves a failure, and stops the pod", { pod: never, runtime: runtime([exited("web", 1)]) }, STOP_POD],
    [
      "Never starts what never ran",
      { pod: pod({ restartPolicy: "Never", containers: two }), runtime: runtime([exited("a", 1)]) },
      { containersToStart: [start("b")] },
    ],
    [
      "the pod lives while one container runs",
      { pod: pod({ restartPolicy: "Never", containers: two }), runtime: runtime([instance("a"), exited("b", 1)]) },
      {},
    ],
    [
      "a restart count follows the highest one known, over sandboxes and holes",
      {
        runtime: runtime([
          exited("web", 1, { restartCount: 7, at: 20 }),
          exited("web", 1, { restartCount: 3, sandboxId: sandboxId("old") }),
        ]),
      },
      { containersToStart: [start("web", 8, 20)] },
    ],
    [
      "the container's own Never goes before the pod's Always",
      {
        pod: pod({ containers: [container("web", { restartPolicy: "Never" })] }),
        runtime: runtime([exited("web", 1)]),
      },
      STOP_POD,
    ],
    [
      "the container's own OnFailure goes before the pod's Never",
      {
        pod: pod({ restartPolicy: "Never", containers: [container("web", { restartPolicy: "OnFailure" })] }),
        runtime: runtime([exited("web", 2)]),
      },
      { containersToStart: [start("web", 1, 5)] },
    ],
    [
      "a rule restarts the exit code it lists",
      { pod: withRule("In", [42]), runtime: runtime([exited("web", 42)]) },
      { containersToStart: [start("web", 1, 5)] },
    ],
    [
      "a rule leaves other exit codes to the policy",
      { pod: withRule("In", [42]), runtime: runtime([exited("web", 1)]) },
      STOP_POD,
    ],
    [
      "a rule restarts the exit code it does not exclude",
      { pod: withRule("NotIn", [0, 1]), runtime: runtime([exited("web", 3)]) },
      { containersToStart: [start("web", 1, 5)] },
    ],
    [
      "a rule leaves the exit code it excludes",
      { pod: withRule("NotIn", [0, 1]), runtime: runtime([exited("web", 1)]) },
      STOP_POD,
    ],
    [
      "a container stuck in created is started anew in place of that instance, which may yet come to life",
      { runtime: runtime([instance("web", { state: "created" })]) },
      { containersToStart: [{ ...start("web", 1), replaces: [instance("web", { state: "created" })] }] },
    ],
    [
      "an earlier instance that came to life stays, though a later one was made meanwhile",
      { runtime: runtime([instance("web", { restartCount: 1, state: "created" }), instance("web")]) },
      {},
    ],
    [
      "a container of unknown state is killed before it starts again",
      { runtime: runtime([instance("web", { state: "unknown" })]) },
      {
        containersToStart: [start("web", 1)],
        containersToKill: [kill("web-0", 'Container is in "unknown" state, try killing it before restart', "Unknown")],
      },
    ],
    [
      "a changed definition restarts the container",
      { runtime: runtime([instance("web", { specHash: "other" })]) },
      {
        containersToStart: [start("web", 1)],
        containersToKill: [kill("web-0", "Container web definition changed, will be restarted", "SpecChanged")],
      },
    ],
    [
      "a resize that needs a restart restarts the container it is about, and no other",
      {
        pod: pod({ containers: two }),
        runtime: runtime([instance("a"), instance("b")]),
        resizeRestarts: new Set(["b"]),
      },
      {
        containersToStart: [start("b", 1)],
        containersToKill: [kill("b-0", "Container b resize requires restart", "Resized")],
      },
    ],
    [
      "a changed definition restarts even under Never",
      { pod: never, runtime: runtime([instance("web", { specHash: "other" })]) },
      {
        containersToStart: [start("web", 1)],
        containersToKill: [kill("web-0", "Container web definition changed, will be restarted", "SpecChanged")],
      },
    ],
    [
      "a failed liveness probe restarts the container",
      { runtime: runtime([instance("web")]), verdicts: verdicts("web", { live: false }) },
      {
        containersToStart: [start("web", 1)],
        containersToKill: [kill("web-0", "Container web failed liveness probe, will be restarted", "LivenessProbe")],
      },
    ],
    [
      "a failed startup probe restarts the container",
      { runtime: runtime([instance("web")]), verdicts: verdicts("web", { started: false, live: false }) },
      {
        containersToStart: [start("web", 1)],
        containersToKill: [kill("web-0", "Container web failed startup probe, will be restarted", "StartupProbe")],
      },
    ],
    [
      "under Never a failed liveness probe ends the container, and with it the pod",
      { pod: never, runtime: runtime([instance("web")]), verdicts: verdicts("web", { live: false }) },
      {
        killPod: true,
        containersToKill: [kill("web-0", "Container web failed liveness probe", "LivenessProbe")],
      },
    ],
    [
      "under Never a failed liveness probe spares the other containers",
      {
        pod: pod({ restartPolicy: "Never", containers: two }),
        runtime: runtime([instance("a"), instance("b")]),
        verdicts: verdicts("a", { live: false }),
      },
      { containersToKill: [kill("a-0", "Container a failed liveness probe", "LivenessProbe")] },
    ],
    [
      "a container that is not ready is kept",
      { runtime: runtime([instance("web")]), verdicts: verdicts("web", { ready: false }) },
      {},
    ],
    [
      "a container that has not started yet is kept",
      { runtime: runtime([instance("web")]), verdicts: verdicts("web", { started: false, ready: false }) },
      {},
    ],
    [
      "a verdict on an earlier instance does not count",
      {
        runtime: runtime([instance("web", { restartCount: 1 }), exited("web", 137)]),
        verdicts: verdicts("web", { live: false, containerId: containerId("web-0") }),
      },
      {},
    ],
    [
      "nothing starts in a pod that is being deleted",
      {
        pod: pod(
          {},
          { metadata: { name: "web", namespace: "default", uid: "uid", deletionTimestamp: "2026-01-01T00:00:00Z" } },
        ),
        runtime: runtime([exited("web", 1)]),
      },
      STOP_POD,
    ],
    [
      "an ephemeral container starts once",
      { pod: pod({ ephemeralContainers: [{ name: "debug" }] }), runtime: runtime([instance("web")]) },
      { ephemeralContainersToStart: [{ name: "debug", kind: "ephemeral", restartCount: 0 }] },
    ],
    [
      "an ephemeral container never starts twice",
      {
        pod: pod({ ephemeralContainers: [{ name: "debug" }] }),
        runtime: runtime([instance("web"), exited("debug", 1)]),
      },
      {},
    ],
    [
      "an ephemeral container does not wait for initialization",
      {
        pod: pod({ initContainers: [container("i1")], ephemeralContainers: [{ name: "debug" }] }),
        runtime: runtime([instance("i1")]),
      },
      { ephemeralContainersToStart: [{ name: "debug", kind: "ephemeral", restartCount: 0 }] },
    ],
    [
      "an ephemeral container that ended does not start again, whatever the policy",
      {
        pod: pod({ ephemeralContainers: [{ name: "debug" }] }),
        runtime: runtime([instance("web"), exited("debug", 1)]),
      },
      {},
    ],
    [
      "an ephemeral container joins the processes of the newest instance of its target",
      {
        pod: pod({ ephemeralContainers: [{ name: "debug", targetContainerName: "web" }] }),
        runtime: runtime([instance("web", { restartCount: 1 }), exited("web", 1)]),
      },
      {
        ephemeralContainersToStart: [
          {
            name: "debug",
            kind: "ephemeral",
            restartCount: 0,
            target: { name: "web", containerId: containerId("web-1") },
          },
        ],
      },
    ],
    [
      "a target that has not run yet is told as missing",
      {
        pod: pod({
          initContainers: [container("i1")],
          ephemeralContainers: [{ name: "debug", targetContainerName: "web" }],
        }),
        runtime: runtime([instance("i1")]),
      },
      {
        ephemeralContainersToStart: [
          { name: "debug", kind: "ephemeral", restartCount: 0, target: { name: "web", containerId: undefined } },
        ],
      },
    ],
    [
      "an ephemeral container alone does not keep the pod",
      {
        pod: pod({ restartPolicy: "Never", ephemeralContainers: [{ name: "debug" }] }),
        runtime: runtime([exited("web", 0), instance("debug")]),
      },
      STOP_POD,
    ],
  ]);
});

function withRule(operator: string, values: number[]) {
  const rules = [{ action: "Restart", exitCodes: { operator, values } }];
  return pod({ containers: [container("web", { restartPolicy: "Never", restartPolicyRules: rules })] });
}

describe("a container's own restart policy", () => {
  const own = (restartPolicy: string, ...codes: readonly number[]) =>
    container("web", {
      restartPolicy,
      ...(codes.length === 0
        ? {}
        : { restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [...codes] } }] }),
    });
  const killed = { runtime: runtime([instance("web")]), verdicts: verdicts("web", { live: false }) };
  check([
    [
      "Never is not restarted by its probes in a pod of Always, though a rule may let it run again",
      { pod: pod({ containers: [own("Never", 42)] }), ...killed },
      { killPod: true, containersToKill: [kill("web-0", "Container web failed liveness probe", "LivenessProbe")] },
    ],
    [
      "Always is, in a pod of Never",
      { pod: pod({ restartPolicy: "Never", containers: [own("Always")] }), ...killed },
      {
        containersToStart: [start("web", 1)],
        containersToKill: [kill("web-0", "Container web failed liveness probe, will be restarted", "LivenessProbe")],
      },
    ],
  ]);
});

describe("restart of all containers", () => {
  const source = container("src", {
    restartPolicy: "Never",
    restartPolicyRules: [{ action: "RestartAllContainers", exitCodes: { operator: "In", values: [88] } }],
  });
  const all = pod({
    restartPolicy: "Never",
    initContainers: [container("i1"), sidecar("s")],
    containers: [source, container("web")],
    ephemeralContainers: [{ name: "debug" }, { name: "old" }],
  });
  const others = [instance("web"), exited("web", 1, { id: containerId("web-old") }), instance("s"), exited("i1", 0)];
  const debuggers = [instance("debug"), exited("old", 0)];
  const reset = (container: RuntimeContainer, kill: boolean, remove = true) => ({ container, kill, remove });
  check([
    [
      "stops and removes all, what asked for it last; ephemeral containers are stopped only",
      { pod: all, runtime: runtime([exited("src", 88), ...others, ...debuggers]) },
      {
        containersToReset: [
          reset(instance("debug"), true, false),
          reset(exited("i1", 0), false),
          reset(instance("s"), true),
          reset(instance("web"), true),
          reset(exited("web", 1, { id: containerId("web-old") }), false),
          reset(exited("src", 88), false),
        ],
      },
    ],
    [
      "goes before a new sandbox",
      { pod: all, runtime: runtime([exited("src", 88)], dead) },
      { attempt: 1, containersToReset: [reset(exited("src", 88), false)] },
    ],
    ["other codes restart nothing", { pod: all, runtime: runtime([exited("src", 1), ...others, ...debuggers]) }, {}],
    [
      "when all are gone the pod begins with its init containers, but not with its ephemeral ones",
      { pod: all, runtime: runtime([exited("debug", 137), exited("old", 0)]) },
      { initContainersToStart: [startInit("i1")] },
    ],
  ]);
});

describe("init containers", () => {
  const inits = pod({ initContainers: [container("i1"), container("i2")] });
  const initsNever = pod({ restartPolicy: "Never", initContainers: [container("i1"), container("i2")] });
  check([
    ["the first init container starts first, alone", { pod: inits }, { initContainersToStart: [startInit("i1")] }],
    ["a running init container is waited for", { pod: inits, runtime: runtime([instance("i1")]) }, {}],
    [
      "the next one starts when the one before succeeded",
      { pod: inits, runtime: runtime([exited("i1", 0)]) },
      { initContainersToStart: [startInit("i2")] },
    ],
    [
      "regular containers start when the last one succeeded",
      { pod: inits, runtime: runtime([exited("i2", 0), exited("i1", 0)]) },
      { containersToStart: [start("web")] },
    ],
    [
      "the last one is enough: the earlier ones may have been removed",
      { pod: inits, runtime: runtime([exited("i2", 0)]) },
      { containersToStart: [start("web")] },
    ],
    [
      "a failed init container is run again",
      { pod: inits, runtime: runtime([exited("i1", 1)]) },
      { initContainersToStart: [startInit("i1", 1, 5)] },
    ],
    [
      "under Never a failed init container ends the pod",
      { pod: initsNever, runtime: runtime([exited("i1", 1)]) },
      STOP_POD,
    ],
    [
      "under OnFailure a failed init container is run again",
      {
        pod: pod({ restartPolicy: "OnFailure", initContainers: [container("i1")] }),
        runtime: runtime([exited("i1", 2)]),
      },
      { initContainersToStart: [startInit("i1", 1, 5)] },
    ],
    [
      "killed for memory is a failure even with exit code 0",
      { pod: inits, runtime: runtime([exited("i1", 0, { reason: "OOMKilled" })]) },
      { initContainersToStart: [startInit("i1", 1, 5)] },
    ],
    [
      "killed for memory with exit code 0 ends a pod under Never",
      { pod: initsNever, runtime: runtime([exited("i1", 0, { reason: "OOMKilled" })]) },
      STOP_POD,
    ],
    [
      "an init container stuck in created is started anew in place of that instance",
      { pod: inits, runtime: runtime([instance("i1", { state: "created" })]) },
      { initContainersToStart: [{ ...startInit("i1", 1), replaces: [instance("i1", { state: "created" })] }] },
    ],
    [
      "an init container of unknown state is killed before it runs again",
      { pod: inits, runtime: runtime([instance("i1", { state: "unknown" })]) },
      {
        initContainersToStart: [startInit("i1", 1)],
        containersToKill: [
          kill("i1-0", 'Init container is in "unknown" state, try killing it before restart', "Unknown"),
        ],
      },
    ],
    [
      "under Never an init container of unknown state ends the pod",
      { pod: initsNever, runtime: runtime([instance("i1", { state: "unknown" })]) },
      STOP_POD,
    ],
    [
      "whose rules are not asked then: there is no exit code",
      {
        pod: pod({
          restartPolicy: "Never",
          initContainers: [
            container("i1", {
              restartPolicy: "Never",
              restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "NotIn", values: [0] } }],
            }),
          ],
        }),
        runtime: runtime([instance("i1", { state: "unknown" })]),
      },
      STOP_POD,
    ],
    ...[137, 0].map(
      (code): Row => [
        `an OOM kill with exit code 0 is a failure with exit code 137: a rule for ${code}`,
        {
          pod: pod({
            restartPolicy: "Never",
            initContainers: [
              container("i1", {
                restartPolicy: "Never",
                restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [code] } }],
              }),
            ],
          }),
          runtime: runtime([exited("i1", 0, { reason: "OOMKilled" })]),
        },
        code === 137
          ? {
              initContainersToStart: [
                expect.objectContaining({ name: "i1", restartCount: 1 }) as unknown as ContainerStart,
              ],
            }
          : STOP_POD,
      ],
    ),
    [
      "a pod whose regular container runs is initialized, whatever became of its init containers",
      { pod: inits, runtime: runtime([instance("web")]) },
      {},
    ],
    [
      "so is one whose regular container exited in this sandbox",
      { pod: inits, runtime: runtime([exited("web", 1)]) },
      { containersToStart: [start("web", 1, 5)] },
    ],
    [
      "init containers of an earlier sandbox do not count",
      {
        pod: inits,
        runtime: runtime([
          exited("web", 1, { sandboxId: sandboxId("old") }),
          exited("i2", 0, { sandboxId: sandboxId("old") }),
          exited("i1", 0, { sandboxId: sandboxId("old") }),
        ]),
      },
      { initContainersToStart: [startInit("i1", 1)] },
    ],
    [
      "an init container's own restart rule runs it again under Never",
      {
        pod: pod({
          restartPolicy: "Never",
          initContainers: [
            container("i1", {
              restartPolicy: "Never",
              restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [42] } }],
            }),
          ],
        }),
        runtime: runtime([exited("i1", 42)]),
      },
      { initContainersToStart: [startInit("i1", 1, 5)] },
    ],
    [
      "a changed definition does not disturb an init container at work",
      { pod: inits, runtime: runtime([instance("i1", { specHash: "other" })]) },
      {},
    ],
  ]);
});

describe("sidecars", () => {
  const probed = { startupProbe: { exec: { command: ["true"] } } };
  const withSidecar = pod({ initContainers: [sidecar("s"), container("i2")] });
  const lastSidecar = pod({ initContainers: [container("i1"), sidecar("s")] });
  const probedSidecar = pod({ initContainers: [sidecar("s", probed), container("i2")] });
  check([
    ["a sidecar starts in its turn", { pod: withSidecar }, { initContainersToStart: [startInit("s")] }],
    [
      "the next init container starts once the sidecar runs",
      { pod: withSidecar, runtime: runtime([instance("s")]) },
      { initContainersToStart: [startInit("i2")] },
    ],
    [
      "a sidecar with a startup probe holds the next one back until it has started",
      { pod: probedSidecar, runtime: runtime([instance("s")]), verdicts: verdicts("s", { started: false }) },
      {},
    ],
    ["also before the probe has spoken", { pod: probedSidecar, runtime: runtime([instance("s")]) }, {}],
    [
      "its startup lets the next one go",
      { pod: probedSidecar, runtime: runtime([instance("s")]), verdicts: verdicts("s", {}) },
      { initContainersToStart: [startInit("i2")] },
    ],
    [
      "a failed startup probe restarts the sidecar",
      {
        pod: probedSidecar,
        runtime: runtime([instance("s")]),
        verdicts: verdicts("s", { started: false, live: false }),
      },
      {
        initContainersToStart: [startInit("s", 1)],
        containersToKill: [kill("s-0", "Init container s failed startup probe", "StartupProbe")],
      },
    ],
    [
      "a sidecar that exited starts again, whatever the policy and the code",
      {
        pod: pod({ restartPolicy: "Never", initContainers: [container("i1"), sidecar("s")] }),
        runtime: runtime([instance("web"), exited("s", 0)]),
      },
      { initContainersToStart: [startInit("s", 1, 5)] },
    ],
    [
      "a sidecar that exited during initialization starts again, the others wait",
      { pod: withSidecar, runtime: runtime([exited("s", 1)]) },
      { initContainersToStart: [startInit("s", 1, 5)] },
    ],
    [
      "an earlier sidecar restarts beside the init container at work",
      { pod: withSidecar, runtime: runtime([instance("i2"), exited("s", 1)]) },
      { initContainersToStart: [startInit("s", 1, 5)] },
    ],
    [
      "the pod is initialized once the last sidecar has started",
      { pod: lastSidecar, runtime: runtime([instance("s"), exited("i1", 0)]) },
      { containersToStart: [start("web")] },
    ],
    [
      "a sidecar the runtime lost starts again in an initialized pod",
      { pod: lastSidecar, runtime: runtime([instance("web")]) },
      { initContainersToStart: [startInit("s")] },
    ],
    [
      "a changed definition restarts a sidecar",
      { pod: lastSidecar, runtime: runtime([instance("web"), instance("s", { specHash: "other" })]) },
      {
        initContainersToStart: [startInit("s", 1)],
        containersToKill: [kill("s-0", "Init container s definition changed", "SpecChanged")],
      },
    ],
    [
      "a resize that needs a restart restarts a sidecar, and its alone",
      {
        pod: lastSidecar,
        runtime: runtime([instance("web"), instance("s")]),
        resizeRestarts: new Set(["s"]),
      },
      {
        initContainersToStart: [startInit("s", 1)],
        containersToKill: [kill("s-0", "Container s resize requires restart", "Resized")],
      },
    ],
    [
      "a failed liveness probe restarts a sidecar",
      {
        pod: lastSidecar,
        runtime: runtime([instance("web"), instance("s")]),
        verdicts: verdicts("s", { live: false }),
      },
      {
        initContainersToStart: [startInit("s", 1)],
        containersToKill: [kill("s-0", "Init container s failed liveness probe", "LivenessProbe")],
      },
    ],
    ...(
      [
        ["a changed definition", [{ specHash: "other" }, {}], "Init container s definition changed", "SpecChanged"],
        ["a resize", [{}, { resizeRestarts: new Set(["s"]) }], "Container s resize requires restart", "Resized"],
        [
          "a failed liveness probe",
          [{}, { verdicts: verdicts("s", { live: false }) }],
          "Init container s failed liveness probe",
          "LivenessProbe",
        ],
      ] as const
    ).map(
      ([cause, [changed, more], message, reason]): Row => [
        `a last sidecar that restarts for ${cause} has started, so the regular containers start`,
        { pod: lastSidecar, runtime: runtime([instance("s", changed)]), ...more },
        {
          initContainersToStart: [startInit("s", 1)],
          containersToStart: [start("web")],
          containersToKill: [kill("s-0", message, reason)],
        },
      ],
    ),
    [
      "a sidecar of unknown state is killed and restarted even under Never",
      {
        pod: pod({ restartPolicy: "Never", initContainers: [sidecar("s")] }),
        runtime: runtime([instance("web"), instance("s", { state: "unknown" })]),
      },
      {
        initContainersToStart: [startInit("s", 1)],
        containersToKill: [
          kill("s-0", 'Init container is in "unknown" state, try killing it before restart', "Unknown"),
        ],
      },
    ],
    [
      "sidecars do not keep a pod alive whose regular containers are done",
      {
        pod: pod({ restartPolicy: "Never", initContainers: [sidecar("s")] }),
        runtime: runtime([exited("web", 0), instance("s")]),
      },
      STOP_POD,
    ],
    [
      "nor is one restarted for a pod that is done",
      {
        pod: pod({ restartPolicy: "Never", initContainers: [sidecar("s")] }),
        runtime: runtime([exited("web", 0), exited("s", 1)]),
      },
      STOP_POD,
    ],
    [
      "several sidecars restart in the order of the spec",
      {
        pod: pod({ initContainers: [sidecar("s1"), container("i"), sidecar("s2")] }),
        runtime: runtime([instance("web"), exited("s2", 1), exited("s1", 1)]),
      },
      { initContainersToStart: [startInit("s1", 1, 5), startInit("s2", 1, 5)] },
    ],
  ]);
});

describe("crash loops", () => {
  const backoffs = (delayMs: number, name = "web"): ContainerBackoffs =>
    new Map([[keyOf(container(name)), { delayMs, updatedAt: mono(0) }]]);
  const wait = (name: string, untilS: number, delay: string) => {
    const nextTry = `next-try=${formatInstant(wall(untilS))}`;
    const message = `back-off ${delay} restarting failed container=${name} pod=web_default(uid) ${nextTry}`;
    return { name, until: mono(untilS), error: kubeletError("Backoff", message, { reason: "CrashLoopBackOff" }) };
  };
  check([
    [
      "the first restart is immediate",
      { runtime: runtime([exited("web", 1, { at: 99 })]) },
      { containersToStart: [start("web", 1, 99)] },
    ],
    [
      "a later one waits from the exit on",
      { runtime: runtime([exited("web", 1, { at: 99 })]), backoffs: backoffs(80_000) },
      { waits: [wait("web", 179, "1m20s")] },
    ],
    [
      "the wait ends on its instant",
      { runtime: runtime([exited("web", 1, { at: 90 })]), backoffs: backoffs(10_000) },
      { containersToStart: [start("web", 1, 90)] },
    ],
    [
      "the longest wait reads 5m0s",
      { runtime: runtime([exited("web", 1, { at: 99 })]), backoffs: backoffs(300_000) },
      { waits: [wait("web", 399, "5m0s")] },
    ],
    [
      "a success in a loop waits like a failure",
      { runtime: runtime([exited("web", 0, { at: 99 })]), backoffs: backoffs(10_000) },
      { waits: [wait("web", 109, "10s")] },
    ],
    [
      "a container in backoff keeps the pod alive",
      { pod: onFailure, runtime: runtime([exited("web", 1, { at: 99 })]), backoffs: backoffs(10_000) },
      { waits: [wait("web", 109, "10s")] },
    ],
    [
      "one container's loop does not hold the others back",
      {
        pod: pod({ containers: [container("web"), container("b")] }),
        runtime: runtime([exited("web", 1, { at: 99 })]),
        backoffs: backoffs(10_000),
      },
      { containersToStart: [start("b")], waits: [wait("web", 109, "10s")] },
    ],
    [
      "the loop of an init container holds everything after it back",
      {
        pod: pod({ initContainers: [container("i1")] }),
        runtime: runtime([exited("i1", 1, { at: 99 })]),
        backoffs: backoffs(20_000, "i1"),
      },
      { waits: [wait("i1", 119, "20s")] },
    ],
    [
      "the loop of a sidecar holds nothing back",
      {
        pod: pod({ initContainers: [sidecar("s")] }),
        runtime: runtime([exited("web", 1, { at: 50 }), exited("s", 1, { at: 99 })]),
        backoffs: backoffs(20_000, "s"),
      },
      { containersToStart: [start("web", 1, 50)], waits: [wait("s", 119, "20s")] },
    ],
    [
      "a kill is not put off by the loop of the instance before",
      {
        runtime: runtime([instance("web", { restartCount: 1 }), exited("web", 137, { at: 99 })]),
        verdicts: verdicts("web", { live: false }),
        backoffs: backoffs(10_000),
      },
      {
        containersToKill: [kill("web-1", "Container web failed liveness probe, will be restarted", "LivenessProbe")],
        waits: [wait("web", 109, "10s")],
      },
    ],
    [
      "a new definition starts with a clean record",
      {
        runtime: runtime([exited("web", 1, { at: 99 })]),
        backoffs: new Map([[containerBackoffKey("web", "other"), { delayMs: 300_000, updatedAt: mono(0) }]]),
      },
      { containersToStart: [start("web", 1, 99)] },
    ],
    [
      "ten quiet minutes clear the record",
      {
        now: mono(1000),
        runtime: runtime([exited("web", 1, { at: 999 })]),
        backoffs: backoffs(300_000),
      },
      { containersToStart: [start("web", 1, 999)] },
    ],
  ]);
});
