import { describe, expect, it } from "vitest";
import { epochMs, monotonicMs, podUid } from "../../../../src/core/ids.ts";
import { livePod } from "../../../../src/core/live/livePod.ts";
import { emptyTimeline } from "../../../../src/core/timeline/advanceTimeline.ts";
import type { PodTimeline } from "../../../../src/core/timeline/timelineTypes.ts";
import { NO_VOLUMES } from "../../../../src/core/volume/podVolumes.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const WALL = Date.UTC(2026, 0, 1);
const at = (ms: number) => ({ wall: epochMs(WALL + ms), mono: monotonicMs(ms) });
const NODE = { now: at(60_000), pulls: [], runtimeProblems: [], volumes: NO_VOLUMES };
const NEW = emptyTimeline({ uid: podUid("u"), name: "web", namespace: "demo" }, at(50_000));
const shown = (more: Partial<PodTimeline>) => livePod({ ...NEW, ...more }, NODE);

describe("a pod in the live view", () => {
  it("has its containers of each kind, with their states", () => {
    const pod = podOf({
      annotations: { "kubernetes.io/config.source": "file" },
      spec: {
        initContainers: [containerOf({ name: "setup" }), containerOf({ name: "proxy", restartPolicy: "Always" })],
        containers: [containerOf({ name: "main" }), containerOf({ name: "new" })],
      },
    });
    const of = (name: string, state: object, more: object = {}) => ({
      ...{ name, image: "", imageID: "", ready: false, restartCount: 0, lastState: {}, state },
      ...more,
    });
    const status = {
      phase: "Running" as const,
      initContainerStatuses: [
        of("setup", { terminated: { exitCode: 0, reason: "Completed" } }),
        of("proxy", { running: {} }, { ready: true }),
      ],
      containerStatuses: [of("main", { waiting: { reason: "CrashLoopBackOff" } }, { restartCount: 3 })],
    };
    const { source, phase, containers } = shown({ pod, status });
    expect({ source, phase, containers }).toEqual({
      source: "file",
      phase: "Running",
      containers: [
        { name: "setup", kind: "init", state: "terminated", reason: "Completed", ready: false, restarts: 0 },
        { name: "proxy", kind: "sidecar", state: "running", ready: true, restarts: 0 },
        { name: "main", kind: "main", state: "waiting", reason: "CrashLoopBackOff", ready: false, restarts: 3 },
        { name: "new", kind: "main", state: "waiting", ready: false, restarts: 0 },
      ],
    });
  });

  it("has its waits with instants of the wall clock", () => {
    const failures = new Map([
      ["main", { reason: "CrashLoopBackOff", message: "back-off", retryAt: monotonicMs(75_000), since: at(55_000) }],
    ]);
    const [wait] = shown({ state: "syncing", pod: podOf(), failures }).waits;
    expect(wait).toMatchObject({ what: "CrashLoopBackOff", container: "main", next: { at: WALL + 75_000 } });
  });

  it("says with a back-off how the container ended last", () => {
    const failures = new Map([
      [
        "main",
        { reason: "CrashLoopBackOff", message: "back-off 10s", retryAt: monotonicMs(75_000), since: at(55_000) },
      ],
    ]);
    const cause = (terminated: object | undefined) => {
      const main = {
        name: "main",
        image: "",
        imageID: "",
        ready: false,
        restartCount: 1,
        state: {},
        lastState: { terminated },
      };
      const status = { phase: "Running", containerStatuses: [main] } as unknown as PodTimeline["status"];
      return shown({ state: "syncing", pod: podOf(), failures, status }).waits[0]?.cause;
    };
    expect([
      cause(undefined),
      cause({ exitCode: 1, reason: "Error" }),
      cause({ exitCode: 137, reason: "OOMKilled", message: "no space left\n" }),
    ]).toEqual([
      "back-off 10s",
      "exited with code 1 (Error); back-off 10s",
      "exited with code 137 (OOMKilled): no space left; back-off 10s",
    ]);
  });

  it("is shown without a pod, as an orphan of the runtime", () => {
    expect(shown({ state: "terminating", pod: undefined })).toMatchObject({
      ...{ uid: "u", namespace: "demo", name: "web", source: "", state: "terminating", containers: [] },
    });
  });

  it("says why it was rejected, within bounds", () => {
    const status = { phase: "Failed", reason: "OutOfcpu", message: "x".repeat(1 << 20) } as PodTimeline["status"];
    const { reason, message } = shown({ state: "rejected", status });
    expect([reason, message?.length]).toEqual(["OutOfcpu", 2_000]);
  });
});
