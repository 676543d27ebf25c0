import { describe, expect, it } from "vitest";
import type { ApiContainerStatus, Pod } from "../../../../src/core/api.ts";
import { sandboxId } from "../../../../src/core/ids.ts";
import { hasRegularContainerInSandbox, podPhase } from "../../../../src/core/pod/phase.ts";
import { container, exited, instance, pod, runtime, sandbox, sidecar } from "../samples.ts";

type State = NonNullable<ApiContainerStatus["state"]>;

const RUNNING: State = { running: { startedAt: "2026-01-01T00:00:00Z" } };
const WAITING: State = { waiting: { reason: "ContainerCreating" } };
const ended = (exitCode: number): State => ({ terminated: { exitCode } });

const status = (name: string, state: State, more: Partial<ApiContainerStatus> = {}): ApiContainerStatus => ({
  name,
  state,
  lastState: {},
  ready: false,
  restartCount: 0,
  image: "",
  imageID: "",
  ...more,
});
const inLoop = (name: string, exitCode: number): ApiContainerStatus =>
  status(name, { waiting: { reason: "CrashLoopBackOff" } }, { lastState: ended(exitCode) });

interface Situation {
  readonly pod: Pod;
  readonly init?: readonly ApiContainerStatus[];
  readonly regular: readonly ApiContainerStatus[];
  readonly terminal?: boolean;
  readonly initialized?: boolean;
}

const two = [container("a"), container("b")];
const staticPod = pod(
  {},
  {
    metadata: {
      name: "web",
      namespace: "default",
      uid: "uid",
      annotations: { "kubernetes.io/config.source": "file" },
    },
  },
);
const withInit = pod({ initContainers: [container("i")] });
const withSidecar = pod({ initContainers: [sidecar("s")] });
const always = (containers = two) => pod({ containers });
const onFailure = pod({ restartPolicy: "OnFailure", containers: two });
const never = pod({ restartPolicy: "Never", containers: two });
const ruled = pod({
  restartPolicy: "Never",
  containers: [
    container("a", {
      restartPolicy: "Never",
      restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [42] } }],
    }),
  ],
});

const REMOVED: State = { terminated: { exitCode: 137, reason: "RestartingAllContainers" } };
const removed = (name: string): ApiContainerStatus =>
  status(name, { waiting: { reason: "RestartingAllContainers" } }, { lastState: REMOVED });

describe("podPhase", () => {
  const rows: readonly (readonly [string, Situation, string])[] = [
    ["no status at all is Pending", { pod: always(), regular: [] }, "Pending"],
    ["removed for a restart of all is Running", { pod: never, regular: [removed("a"), removed("b")] }, "Running"],
    [
      "an init container removed for it has not failed",
      {
        pod: pod({ restartPolicy: "Never", initContainers: [container("i")] }),
        init: [removed("i")],
        regular: [removed("web")],
      },
      "Running",
    ],
    ["a waiting container is Pending", { pod: pod(), regular: [status("web", WAITING)] }, "Pending"],
    ["all running is Running", { pod: always(), regular: [status("a", RUNNING), status("b", RUNNING)] }, "Running"],
    [
      "one waiting, one running is Pending",
      { pod: always(), regular: [status("a", RUNNING), status("b", WAITING)] },
      "Pending",
    ],
    ["one missing, one running is Pending", { pod: always(), regular: [status("a", RUNNING)] }, "Pending"],
    [
      "one running, one crashed is Running",
      { pod: always(), regular: [status("a", RUNNING), status("b", ended(1))] },
      "Running",
    ],
    [
      "one running, one in a crash loop is Running",
      { pod: always(), regular: [status("a", RUNNING), inLoop("b", 1)] },
      "Running",
    ],
    [
      "Always: all ended is Running, they restart",
      { pod: always(), regular: [status("a", ended(0)), status("b", ended(1))] },
      "Running",
    ],
    ["Always: a crash loop is Running", { pod: pod(), regular: [inLoop("web", 1)] }, "Running"],
    [
      "OnFailure: all succeeded is Succeeded",
      { pod: onFailure, regular: [status("a", ended(0)), status("b", ended(0))] },
      "Succeeded",
    ],
    [
      "OnFailure: one failed is Running, it restarts",
      { pod: onFailure, regular: [status("a", ended(0)), status("b", ended(1))] },
      "Running",
    ],
    [
      "OnFailure: one in a crash loop is Running",
      { pod: onFailure, regular: [status("a", ended(0)), inLoop("b", 1)] },
      "Running",
    ],
    [
      "Never: all succeeded is Succeeded",
      { pod: never, regular: [status("a", ended(0)), status("b", ended(0))] },
      "Succeeded",
    ],
    ["Never: one failed is Failed", { pod: never, regular: [status("a", ended(0)), status("b", ended(1))] }, "Failed"],
    [
      "Never: one failed, one running is Running",
      { pod: never, regular: [status("a", RUNNING), status("b", ended(1))] },
      "Running",
    ],
    ["a rule that restarts keeps the pod Running", { pod: ruled, regular: [status("a", ended(42))] }, "Running"],
    ["an exit no rule matches is Failed", { pod: ruled, regular: [status("a", ended(1))] }, "Failed"],
    [
      "terminal: all succeeded is Succeeded under Always",
      { pod: always(), regular: [status("a", ended(0)), status("b", ended(0))], terminal: true },
      "Succeeded",
    ],
    [
      "terminal: one failed is Failed under Always",
      { pod: always(), regular: [status("a", ended(0)), status("b", ended(137))], terminal: true },
      "Failed",
    ],
    [
      "terminal: a static pod has no final phase",
      { pod: staticPod, regular: [status("web", ended(0))], terminal: true },
      "Running",
    ],
    [
      "an init container that waits is Pending",
      { pod: withInit, init: [status("i", WAITING)], regular: [status("web", WAITING)] },
      "Pending",
    ],
    [
      "an init container that runs is Pending",
      { pod: withInit, init: [status("i", RUNNING)], regular: [status("web", WAITING)] },
      "Pending",
    ],
    [
      "an init container in a crash loop is Pending",
      { pod: withInit, init: [inLoop("i", 1)], regular: [status("web", WAITING)] },
      "Pending",
    ],
    [
      "Never: a failed init container is Failed",
      {
        pod: pod({ restartPolicy: "Never", initContainers: [container("i")] }),
        init: [status("i", ended(1))],
        regular: [status("web", WAITING)],
      },
      "Failed",
    ],
    [
      "an initialized pod that runs is Running",
      { pod: withInit, init: [status("i", ended(0))], regular: [status("web", RUNNING)] },
      "Running",
    ],
    [
      "an init container that runs again in a new sandbox is Pending, though the pod ran before",
      { pod: withInit, init: [status("i", RUNNING)], regular: [status("web", ended(0))] },
      "Pending",
    ],
    [
      "so is a sidecar that starts again in a new sandbox",
      { pod: withSidecar, init: [status("s", RUNNING, { started: false })], regular: [status("web", ended(0))] },
      "Pending",
    ],
    [
      "one that starts again beside the containers of its sandbox is not",
      {
        pod: withSidecar,
        init: [status("s", RUNNING, { started: false })],
        regular: [status("web", RUNNING)],
        initialized: true,
      },
      "Running",
    ],
    [
      "a sidecar that has not started holds the pod in Pending",
      { pod: withSidecar, init: [status("s", RUNNING, { started: false })], regular: [status("web", WAITING)] },
      "Pending",
    ],
    [
      "a sidecar that restarts does not take a running pod back",
      { pod: withSidecar, init: [status("s", ended(1))], regular: [status("web", RUNNING)] },
      "Running",
    ],
    [
      "a sidecar in a crash loop does not either",
      { pod: withSidecar, init: [inLoop("s", 1)], regular: [status("web", RUNNING)] },
      "Running",
    ],
    [
      "a sidecar without status holds a pod that runs in Pending, also beside the containers of its sandbox",
      { pod: withSidecar, regular: [status("web", RUNNING)], initialized: true },
      "Pending",
    ],
    [
      "a sidecar that waits for its first start does too",
      { pod: withSidecar, init: [status("s", WAITING)], regular: [status("web", RUNNING)], initialized: true },
      "Pending",
    ],
    [
      "a sidecar in no state that ended before does too",
      { pod: withSidecar, init: [status("s", {}, { lastState: ended(1) })], regular: [status("web", RUNNING)] },
      "Pending",
    ],
    [
      "a regular container in no state that ended before holds a pod in Pending",
      { pod: always(), regular: [status("a", RUNNING), status("b", {}, { lastState: ended(1) })] },
      "Pending",
    ],
    [
      "an init container in no state that failed before has not failed for good",
      {
        pod: pod({ restartPolicy: "Never", initContainers: [container("i")] }),
        init: [status("i", {}, { lastState: ended(1) })],
        regular: [status("web", WAITING)],
      },
      "Pending",
    ],
    [
      "an init container that succeeded before and waits now has not failed",
      {
        pod: pod({ restartPolicy: "Never", initContainers: [container("i")] }),
        init: [inLoop("i", 0)],
        regular: [status("web", RUNNING)],
      },
      "Running",
    ],
    [
      "a sidecar that has started is no reason to wait",
      { pod: withSidecar, init: [status("s", RUNNING, { started: true })], regular: [status("web", RUNNING)] },
      "Running",
    ],
    [
      "a starting sidecar beside containers that are done is Running",
      {
        pod: pod({ restartPolicy: "Never", initContainers: [sidecar("s")] }),
        init: [status("s", RUNNING, { started: false })],
        regular: [status("web", ended(0))],
      },
      "Running",
    ],
    [
      "init containers that wait do not matter to containers that are done",
      {
        pod: pod({ restartPolicy: "Never", initContainers: [container("i")] }),
        init: [status("i", WAITING)],
        regular: [status("web", ended(1))],
      },
      "Failed",
    ],
    [
      "Never: a crash loop of code 0 counts as failed",
      { pod: never, regular: [status("a", ended(0)), inLoop("b", 0)] },
      "Failed",
    ],
    [
      "a running sidecar keeps a pod of ended containers Running",
      {
        pod: pod({ restartPolicy: "Never", initContainers: [sidecar("s")] }),
        init: [status("s", RUNNING, { started: true })],
        regular: [status("web", ended(0))],
      },
      "Running",
    ],
    [
      "with the sidecar stopped it is Succeeded, whatever the sidecar's code",
      {
        pod: pod({ restartPolicy: "Never", initContainers: [sidecar("s")] }),
        init: [status("s", ended(137))],
        regular: [status("web", ended(0))],
      },
      "Succeeded",
    ],
    [
      "with the sidecar gone from the runtime too: nothing starts again for work that is done",
      {
        pod: pod({ restartPolicy: "Never", initContainers: [sidecar("s")] }),
        init: [status("s", WAITING)],
        regular: [status("web", ended(0))],
      },
      "Succeeded",
    ],
  ];
  it.each(rows)("%s", (_title, { pod: subject, init = [], regular, terminal = false, initialized = false }, phase) => {
    expect(podPhase({ pod: subject, initStatuses: init, regularStatuses: regular, terminal, initialized })).toBe(phase);
  });
});

describe("hasRegularContainerInSandbox", () => {
  it.each([
    ["one was made there", runtime([instance("web", { state: "created" })]), true],
    ["it ended there", runtime([exited("web", 0)]), true],
    ["it was made in an earlier one", runtime([exited("web", 0, { sandboxId: sandboxId("old") })]), false],
    ["only an init container was made", runtime([instance("i")]), false],
    ["the sandbox is not ready", runtime([instance("web")], [sandbox({ ready: false })]), false],
    ["there is none", runtime([instance("web")], []), false],
  ])("when %s", (_when, found, expected) => {
    expect(hasRegularContainerInSandbox(pod().spec, found)).toBe(expected);
  });
});
