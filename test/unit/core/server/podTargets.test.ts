import { describe, expect, it } from "vitest";
import { podUid } from "../../../../src/core/ids.ts";
import { emptyRuntimeStatus, type PodRuntimeStatus } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { podOf, readySandbox, runningContainer, terminalOf } from "../../../../src/core/server/podTargets.ts";
import { podOf as samplePod } from "../../../support/pods.ts";

const pod = samplePod({ uid: "u-1", name: "web", namespace: "demo" });
const statusOf = (uid: string): PodRuntimeStatus =>
  ({
    ...emptyRuntimeStatus(podUid(uid), "web", "demo", 1),
    sandboxes: [
      { id: `${uid}-old`, ready: false },
      { id: `${uid}-new`, ready: true },
    ],
    containers: [
      { id: `${uid}-1`, name: "main", state: "exited" },
      { id: `${uid}-2`, name: "main", state: "running" },
      { id: `${uid}-3`, name: "done", state: "exited" },
    ],
  }) as unknown as PodRuntimeStatus;
const STATUSES = [statusOf("u-0"), statusOf("u-1")];
const short = (result: { ok: true; value: unknown } | { ok: false; error: { code: string; message: string } }) =>
  result.ok ? result.value : `${result.error.code}: ${result.error.message}`;

describe("the pod of a URL", () => {
  it.each([
    ["demo", "web", pod],
    ["other", "web", "NotFound: pod does not exist"],
    ["demo", "db", "NotFound: pod does not exist"],
  ])("in the namespace %s with the name %s", (namespace, name, expected) => {
    expect(short(podOf([samplePod(), pod], { namespace, pod: name }))).toBe(expected);
  });
});

describe("the container of a URL", () => {
  it("is the running instance of the pod", () => {
    expect(runningContainer(STATUSES, pod, "main")).toMatchObject({ ok: true, value: { id: "u-1-2" } });
  });

  it.each([
    ["has ended", STATUSES, "done", undefined, 'Unknown: container not found ("done")'],
    ["does not exist", STATUSES, "none", "gone", "Unknown: gone"],
    ["belongs to an unknown pod", [], "main", undefined, 'Unknown: container not found ("main")'],
  ])("is not found when it %s", (_, statuses, name, missing, expected) => {
    expect(short(runningContainer(statuses, pod, name, missing))).toBe(expected);
  });
});

describe("the sandbox of a URL", () => {
  it("is the ready one of the pod", () => {
    expect([short(readySandbox(STATUSES, pod)), short(readySandbox([], pod))]).toEqual([
      "u-1-new",
      'Unknown: pod not found ("web_demo")',
    ]);
  });
});

describe("the terminal of a container", () => {
  const spec = {
    containers: [{ name: "main", tty: true }, { name: "plain" }],
    initContainers: [{ name: "init", tty: true }],
    ephemeralContainers: [{ name: "debug", tty: true }],
  };
  it.each([
    ["main", true],
    ["plain", false],
    ["init", true],
    ["debug", true],
    ["none", undefined],
  ])("of %s is %j", (name, expected) => {
    expect(terminalOf(samplePod({ spec }), name)).toBe(expected);
  });
});
