import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../../../src/core/api.ts";
import { containerId, monotonicMs, sandboxId } from "../../../../src/core/ids.ts";
import {
  containerGraceSeconds,
  remainingGraceSeconds,
  secondsUntil,
  stopDeadline,
} from "../../../../src/core/pod/gracePeriod.ts";
import type { ContainerKill } from "../../../../src/core/pod/podActionsTypes.ts";
import * as events from "../../../../src/core/pod/podEvents.ts";
import { type ContainerStop, planPodKill } from "../../../../src/core/pod/podKill.ts";
import { container, exited, instance, pod, runtime, sandbox, sidecar } from "../samples.ts";

const stop = (name: string, graceSeconds: number): ContainerStop => ({
  containerId: containerId(`${name}-0`),
  name,
  message: `Stopping container ${name}`,
  reason: "PodShouldStop",
  graceSeconds,
});
const deleted = (seconds: number, spec: Partial<Pod["spec"]> = {}): Pod =>
  pod(spec, { metadata: { name: "web", namespace: "default", uid: "uid", deletionGracePeriodSeconds: seconds } });

describe("planPodKill", () => {
  const subject = pod({
    terminationGracePeriodSeconds: 20,
    initContainers: [sidecar("s1"), container("i"), sidecar("s2")],
    containers: [container("a"), container("b")],
  });
  it("stops regular containers together, then sidecars one by one in reverse, then the sandboxes", () => {
    const status = runtime(
      [instance("a"), instance("s2"), instance("b"), instance("s1"), exited("i", 0)],
      [sandbox(), sandbox({ id: sandboxId("old"), ready: false })],
    );
    expect(planPodKill(subject, status, undefined)).toEqual({
      stages: [[stop("a", 20), stop("b", 20)], [stop("s2", 20)], [stop("s1", 20)]],
      sandboxes: ["sb", "old"],
    });
  });
  it("stops a running init container in the first stage", () => {
    expect(planPodKill(subject, runtime([instance("i"), instance("s1")]), 5)).toEqual({
      stages: [[stop("i", 5)], [stop("s1", 5)]],
      sandboxes: ["sb"],
    });
  });
  it("stops containers that may be running, and no others", () => {
    const status = runtime([instance("a", { state: "unknown" }), instance("b", { state: "created" })]);
    expect(planPodKill(subject, status, undefined)).toEqual({ stages: [[stop("a", 20)]], sandboxes: ["sb"] });
  });
  it("gives at least two seconds", () => {
    expect(planPodKill(subject, runtime([instance("a")]), 0).stages).toEqual([[stop("a", 2)]]);
  });
  it("plans no stops for a pod that the runtime does not know", () => {
    expect(planPodKill(subject, runtime([], []), 5)).toEqual({ stages: [], sandboxes: [] });
  });
});

describe("containerGraceSeconds", () => {
  const probe = { exec: { command: ["true"] }, terminationGracePeriodSeconds: 7 };
  const probed = container("web", {
    livenessProbe: probe,
    startupProbe: { ...probe, terminationGracePeriodSeconds: 9 },
  });
  const plain = pod({ terminationGracePeriodSeconds: 40 });
  const rows: readonly (readonly [
    string,
    Pod | undefined,
    Container | undefined,
    ContainerKill["reason"],
    number | undefined,
    number,
  ])[] = [
    ["the pod's", plain, container("web"), "SpecChanged", undefined, 40],
    ["the failed liveness probe's own", plain, probed, "LivenessProbe", undefined, 7],
    ["the failed startup probe's own", plain, probed, "StartupProbe", undefined, 9],
    ["the pod's when the probe is not the cause", plain, probed, "SpecChanged", undefined, 40],
    ["the deletion's before a probe's", deleted(3), probed, "LivenessProbe", undefined, 3],
    ["an override before everything", deleted(3), probed, "LivenessProbe", 1, 1],
    ["the default when nothing says", undefined, undefined, "PodShouldStop", undefined, 30],
    ["never below zero", deleted(-5), undefined, "PodShouldStop", undefined, 0],
  ];
  it.each(rows)("%s", (_title, subject, spec, reason, override, seconds) => {
    expect(containerGraceSeconds(subject, spec, reason, override)).toBe(seconds);
  });
  it.each([
    ["what the hook left", 30, 10.9, 20],
    ["two seconds after a hook that took everything", 30, 30, 2],
    ["two seconds when there was less", 1, 0, 2],
  ])("leaves %s for the signal", (_title, grace, elapsed, seconds) => {
    expect(remainingGraceSeconds(grace, elapsed)).toBe(seconds);
  });
});

describe("pod events", () => {
  const subject = pod({ initContainers: [container("i")], ephemeralContainers: [{ name: "e" }] });
  const object = { kind: "Pod", namespace: "default", name: "web", uid: "uid" };
  it.each([
    ["web", "spec.containers{web}"],
    ["i", "spec.initContainers{i}"],
    ["e", "spec.ephemeralContainers{e}"],
  ])("the path of %s names its list", (name, fieldPath) => {
    expect(events.podEventObject(subject, name)).toEqual({ ...object, fieldPath });
  });
  const onWeb = { ...object, fieldPath: "spec.containers{web}" };
  const onPod = { ...object, fieldPath: "" };
  it.each([
    [events.createdEvent(subject, "web"), "Normal", "Created", "Container created", onWeb],
    [events.startedEvent(subject, "web"), "Normal", "Started", "Container started", onWeb],
    [events.failedEvent(subject, "web", "ErrImagePull"), "Warning", "Failed", "Error: ErrImagePull", onWeb],
    [
      events.backOffEvent(subject, "web"),
      "Warning",
      "BackOff",
      "Back-off restarting failed container web in pod web_default(uid)",
      onWeb,
    ],
    [
      events.sandboxChangedEvent(subject),
      "Normal",
      "SandboxChanged",
      "Pod sandbox changed, it will be killed and re-created.",
      onPod,
    ],
    [
      events.failedCreateSandboxEvent(subject, "no network"),
      "Warning",
      "FailedCreatePodSandBox",
      "Failed to create pod sandbox: no network",
      onPod,
    ],
  ])("%#: type, reason, text and object", (event, type, reason, message, target) => {
    expect(event).toEqual({ type, reason, message, object: target });
  });
});

describe("secondsUntil", () => {
  it.each([
    ["the whole grace at its start, whatever the fraction of the instant", 0.18685581497, 60],
    ["a second that has begun as a whole one", 500.18685581497, 60],
    ["what is left", 30_000.18685581497, 30],
    ["none of a time that is up", 61_000, 0],
  ])("%s", (_, elapsedMs, left) => {
    const startedAt = monotonicMs(255_360);
    const deadline = stopDeadline(undefined, 60, monotonicMs(startedAt + (elapsedMs < 1 ? elapsedMs : 0.18685581497)));
    expect(secondsUntil(deadline, monotonicMs(startedAt + elapsedMs))).toBe(left);
  });
});
