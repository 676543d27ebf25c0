import { describe, expect, it } from "vitest";
import { containerId, podUid } from "../../../../src/core/ids.ts";
import {
  needsContainerStatus,
  needsSandboxStatus,
  type PodAnswers,
  translatePodStatus,
} from "../../../../src/core/runtime/translate.ts";
import { Container, ContainerState, ContainerStatus, PodSandbox, PodSandboxStatus } from "../../../../src/gen/cri.ts";
import { exited, instance, mono, runtime, sandbox, wall } from "../samples.ts";

const POD_LABELS = {
  "io.kubernetes.pod.uid": "uid",
  "io.kubernetes.pod.name": "web",
  "io.kubernetes.pod.namespace": "default",
};
const LABELS = { ...POD_LABELS, "io.kubernetes.container.name": "web" };
const ANNOTATIONS = {
  "io.kubernetes.container.hash": "abc",
  "io.kubernetes.container.restartCount": "3",
  "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
};
const MESSAGE_FILE = "/root/pods/uid/containers/web/0a1b2c3d";
const LOG = "/logs/default_web_uid/web/3.log";
const nanos = (seconds: number): bigint => BigInt(wall(seconds)) * 1_000_000n;

const listedSandbox = (more: Parameters<typeof PodSandbox.fromPartial>[0] = {}) =>
  PodSandbox.fromPartial({ id: "sb", metadata: { attempt: 2 }, createdAt: nanos(0), labels: POD_LABELS, ...more });
const listed = (more: Parameters<typeof Container.fromPartial>[0] = {}) =>
  Container.fromPartial({
    id: "c",
    podSandboxId: "sb",
    metadata: { name: "web", attempt: 3 },
    createdAt: nanos(1),
    labels: LABELS,
    annotations: ANNOTATIONS,
    ...more,
  });
const containerStatus = (more: Parameters<typeof ContainerStatus.fromPartial>[0] = {}) =>
  ContainerStatus.fromPartial({
    id: "c",
    metadata: { name: "web", attempt: 3 },
    state: ContainerState.CONTAINER_RUNNING,
    createdAt: nanos(1),
    startedAt: nanos(2),
    image: { image: "sha256:1", userSpecifiedImage: "web:1" },
    imageRef: "registry.test/web@sha256:1",
    imageId: "sha256:1",
    labels: LABELS,
    annotations: ANNOTATIONS,
    mounts: [{ containerPath: "/dev/termination-log", hostPath: MESSAGE_FILE }],
    logPath: LOG,
    user: { linux: { uid: 1000n, gid: 7n, supplementalGroups: [7n, 8n] } },
    ...more,
  });
const translate = (answers: Partial<PodAnswers>) =>
  translatePodStatus({
    podUid: podUid("uid"),
    sandboxes: [],
    containers: [],
    previous: undefined,
    sequence: 9,
    now: mono(50),
    wall: wall(100),
    ...answers,
  });
const RUNNING = {
  id: "c",
  name: "web",
  sandboxId: "sb",
  restartCount: 3,
  state: "running",
  createdAt: wall(1),
  startedAt: wall(2),
  finishedAt: undefined,
  exitedAt: undefined,
  exitCode: 0,
  reason: "",
  message: "",
  image: "web:1",
  imageRef: "registry.test/web@sha256:1",
  imageId: "sha256:1",
  specHash: "abc",
  logPath: LOG,
  terminationMessageFile: MESSAGE_FILE,
  user: { uid: 1000, gid: 7, supplementalGroups: [7, 8] },
  annotations: ANNOTATIONS,
};
const EXIT = { state: ContainerState.CONTAINER_EXITED, finishedAt: nanos(90), exitCode: 3, reason: "Error" };

describe("translatePodStatus", () => {
  it.each(["..", "a/b", "x".repeat(256)])(
    "ignores a container with the name %s, which is not a valid directory name",
    (name) => {
      const labels = { ...LABELS, "io.kubernetes.container.name": name };
      const containers = [
        { listed: listed(), status: containerStatus() },
        { listed: listed({ id: "d", labels }), status: containerStatus({ id: "d", labels }) },
      ];
      expect(translate({ containers }).containers.map(({ id }) => id)).toEqual(["c"]);
    },
  );

  it.each([
    "/etc/shadow",
    "/logs/default_other_uid/web/3.log",
    "/logs/default_web_uid/other/3.log",
    "/logs/../default_web_uid/web/3.log",
    "logs/default_web_uid/web/3.log",
    "/logs/default_web_uid/web/latest.log",
  ])("ignores the log path %s, which is not a log of this container", (logPath) => {
    const containers = [{ listed: listed(), status: containerStatus({ logPath }) }];
    expect(translate({ containers }).containers[0]?.logPath).toBe("");
  });

  it("translates sandbox and container", () => {
    const status = PodSandboxStatus.fromPartial({
      id: "sb",
      metadata: { attempt: 2 },
      createdAt: nanos(0),
      network: { ip: "10.0.0.2", additionalIps: [{ ip: "2001:db8::2" }] },
      labels: POD_LABELS,
      annotations: { a: "b" },
    });
    expect(
      translate({
        sandboxes: [{ listed: listedSandbox(), status }],
        containers: [{ listed: listed(), status: containerStatus() }],
      }),
    ).toEqual({
      podUid: "uid",
      name: "web",
      namespace: "default",
      sandboxes: [
        {
          id: "sb",
          attempt: 2,
          ready: true,
          createdAt: wall(0),
          ips: ["10.0.0.2", "2001:db8::2"],
          hostNetwork: false,
          labels: POD_LABELS,
          annotations: { a: "b" },
        },
      ],
      containers: [RUNNING],
      sequence: 9,
    });
  });

  const sandboxOf = (status: Parameters<typeof PodSandboxStatus.fromPartial>[0]) => {
    const { sandboxes } = translate({
      sandboxes: [{ listed: listedSandbox(), status: PodSandboxStatus.fromPartial({ id: "sb", ...status }) }],
    });
    const { ready, ips, hostNetwork, networkUnknown } = sandboxes[0] ?? sandbox();
    return { ready, ips, hostNetwork, networkUnknown };
  };
  it("a host-network sandbox has no address of its own", () => {
    expect(sandboxOf({ network: { ip: "192.0.2.10" }, linux: { namespaces: { options: { network: 2 } } } })).toEqual({
      ready: true,
      ips: [],
      hostNetwork: true,
      networkUnknown: undefined,
    });
  });
  it("a network without an address is known to have none", () => {
    expect(sandboxOf({ network: { ip: "" } })).toEqual({
      ready: true,
      ips: [],
      hostNetwork: false,
      networkUnknown: undefined,
    });
  });
  it("a runtime without network status leaves the network unknown", () => {
    expect(sandboxOf({ state: 1 })).toEqual({ ready: false, ips: [], hostNetwork: false, networkUnknown: true });
  });

  const containerOf = (answers: Partial<PodAnswers>) => translate(answers).containers[0];
  it("an exit happened as long ago as the wall clock says", () => {
    expect(containerOf({ containers: [{ listed: listed(), status: containerStatus(EXIT) }] })).toEqual({
      ...RUNNING,
      state: "exited",
      finishedAt: wall(90),
      exitedAt: mono(40),
      exitCode: 3,
      reason: "Error",
    });
  });
  it.each([
    ["an exit in the future of the wall clock happened now", nanos(500), mono(50)],
    ["an exit without a time happened now", 0n, mono(50)],
  ])("%s", (_title, finishedAt, exitedAt) => {
    const status = containerStatus({ ...EXIT, finishedAt });
    expect(containerOf({ containers: [{ listed: listed(), status }] })?.exitedAt).toBe(exitedAt);
  });
  it("the instant of an exit stays as first seen, whatever the clocks do", () => {
    const previous = runtime([exited("web", 3, { id: containerId("c"), exitedAt: mono(11) })]);
    expect(containerOf({ previous, containers: [{ listed: listed(), status: containerStatus(EXIT) }] })?.exitedAt).toBe(
      mono(11),
    );
  });
  it("a status that was not requested again is carried over", () => {
    const before = exited("web", 3, { id: containerId("c"), message: "said before" });
    const old = sandbox({ ready: false });
    expect(
      translate({
        previous: runtime([before], [old]),
        sandboxes: [{ listed: listedSandbox({ state: 1 }), status: undefined }],
        containers: [{ listed: listed({ state: ContainerState.CONTAINER_EXITED }), status: undefined }],
      }),
    ).toEqual({ ...runtime([before], [old]), sequence: 9 });
  });
  it("a relist without statuses provides the listed fields", () => {
    const container = listed({
      state: ContainerState.CONTAINER_UNKNOWN,
      image: { image: "web:1" },
      imageRef: "sha256:1",
    });
    expect(containerOf({ containers: [{ listed: container, status: undefined }] })).toEqual({
      ...RUNNING,
      state: "unknown",
      startedAt: undefined,
      imageRef: "sha256:1",
      logPath: "",
      terminationMessageFile: undefined,
      user: undefined,
    });
  });
  it.each([
    ["the kubelet's own file, whatever the pod mounts there too", ["/volumes/v/f", MESSAGE_FILE], MESSAGE_FILE],
    [
      "the file of a kubelet with another root directory",
      ["/old/pods/uid/containers/web/0a1b2c3d"],
      "/old/pods/uid/containers/web/0a1b2c3d",
    ],
    ["the kubelet's own mount, which is the last", ["/h/pods/uid/containers/web/ffffffff", MESSAGE_FILE], MESSAGE_FILE],
    ["no file of another pod", ["/root/pods/other/containers/web/0a1b2c3d"], undefined],
    ["no file of another container", ["/root/pods/uid/containers/db/0a1b2c3d"], undefined],
    [
      "no other file of the pod",
      ["/root/pods/uid/volumes/web/0a1b2c3d", "/root/pods/uid/containers/web/hosts"],
      undefined,
    ],
  ])("reads the termination message of %s", (_, hostPaths, expected) => {
    const mounts = hostPaths.map((hostPath) => ({ containerPath: "/dev/termination-log", hostPath }));
    expect(containerOf({ containers: [{ listed: listed(), status: containerStatus({ mounts }) }] })).toMatchObject({
      terminationMessageFile: expected,
    });
  });
  it.each([
    ["the annotation", { "io.kubernetes.container.restartCount": "7" }, 7],
    ["the attempt without one", {}, 3],
    ["the attempt when it is not a number", { "io.kubernetes.container.restartCount": "x" }, 3],
  ])("the restart count comes from %s", (_title, annotations, count) => {
    const status = containerStatus({ annotations });
    expect(containerOf({ containers: [{ listed: listed(), status }] })?.restartCount).toBe(count);
  });
  it("the restart count is zero without annotation and metadata", () => {
    const status = containerStatus({ annotations: {}, metadata: undefined });
    expect(containerOf({ containers: [{ listed: listed(), status }] })?.restartCount).toBe(0);
  });
  it("the image is the runtime's name for it without a user-specified one", () => {
    const status = containerStatus({ image: { image: "docker.io/library/web:1" }, imageId: "" });
    const { image, imageId } = containerOf({ containers: [{ listed: listed(), status }] }) ?? instance("web");
    expect({ image, imageId }).toEqual({ image: "docker.io/library/web:1", imageId: "registry.test/web@sha256:1" });
  });
  it("sorts newest first by attempt, regardless of creation times", () => {
    const status = translate({
      sandboxes: [
        { listed: listedSandbox({ id: "s1", metadata: { attempt: 1 } }), status: undefined },
        { listed: listedSandbox({ id: "s2", metadata: { attempt: 2 } }), status: undefined },
        { listed: listedSandbox({ id: "s3", createdAt: nanos(30), metadata: { attempt: 0 } }), status: undefined },
      ],
      containers: ["2", "9", "4"].map((count) => ({
        listed: listed({ id: `c${count}`, annotations: { "io.kubernetes.container.restartCount": count } }),
        status: undefined,
      })),
    });
    expect([status.sandboxes.map(({ id }) => id), status.containers.map(({ id }) => id)]).toEqual([
      ["s2", "s1", "s3"],
      ["c9", "c4", "c2"],
    ]);
  });
  it("takes the name of the pod from its newest listed sandbox, or else from a container", () => {
    const named = (name: string) => ({ ...POD_LABELS, "io.kubernetes.pod.name": name });
    const sandboxes = ["of sandbox", "of another"].map((name) => ({
      listed: listedSandbox({ id: name, labels: named(name) }),
      status: undefined,
    }));
    const containers = ["of container", "of another"].map((name) => ({
      listed: listed({ id: name, labels: { ...LABELS, ...named(name) } }),
      status: undefined,
    }));
    expect([translate({ sandboxes, containers }).name, translate({ containers }).name]).toEqual([
      "of sandbox",
      "of container",
    ]);
  });
  it("a sandbox that has stopped since loses its addresses, and keeps the rest", () => {
    const stopped = { listed: listedSandbox({ state: 1 }), status: undefined };
    const previous = runtime([], [sandbox()]);
    expect(translate({ sandboxes: [stopped], previous }).sandboxes).toEqual([sandbox({ ready: false, ips: [] })]);
  });
  it("a pod the runtime no longer knows keeps its name", () => {
    expect(translate({ previous: runtime([instance("web")]) })).toEqual({ ...runtime([], []), sequence: 9 });
  });
});

describe("requests for statuses", () => {
  const known = runtime([exited("web", 0, { id: containerId("c") })], [sandbox({ ready: false })]);
  const running = runtime([instance("web", { id: containerId("c") })], [sandbox()]);
  it.each([
    ["a running container", ContainerState.CONTAINER_RUNNING, running, true],
    ["a container that exited since", ContainerState.CONTAINER_EXITED, running, true],
    ["a container known to have exited", ContainerState.CONTAINER_EXITED, known, false],
    ["an exited container never seen before", ContainerState.CONTAINER_EXITED, undefined, true],
    ["a container that runs again against all expectation", ContainerState.CONTAINER_RUNNING, known, true],
  ])("%s", (_title, state, previous, expected) => {
    expect(needsContainerStatus(listed({ state }), previous)).toBe(expected);
  });
  const addressless = runtime([], [sandbox({ ips: [] })]);
  const onHost = runtime([], [sandbox({ ips: [], hostNetwork: true })]);
  it.each([
    ["a ready sandbox never seen before", 0 as const, undefined, true],
    ["a ready sandbox whose addresses are known", 0 as const, running, false],
    ["a ready sandbox without an address so far", 0 as const, addressless, true],
    ["a ready sandbox on the host's network", 0 as const, onHost, false],
    ["a sandbox that is ready against all expectation", 0 as const, known, true],
    ["a sandbox that stopped since", 1 as const, running, false],
    ["a sandbox known to have stopped", 1 as const, known, false],
    ["a stopped sandbox never seen before", 1 as const, undefined, true],
  ])("%s", (_title, state, previous, expected) => {
    expect(needsSandboxStatus(listedSandbox({ state }), previous)).toBe(expected);
  });
});
