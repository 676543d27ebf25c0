import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { epochMs, monotonicMs } from "../../../../src/core/ids.ts";
import type { PodCommand } from "../../../../src/core/pod/podRegistry.ts";
import type { PodRuntimeStatus } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import type { PodContext } from "../../../../src/pipelines/podContext.ts";
import { createPodMemories } from "../../../../src/pipelines/podMemories.ts";
import { deadlineLeftMs } from "../../../../src/pipelines/podWorker/activeDeadlineTimer.ts";
import {
  countExits,
  measureRun,
  observeIdleSync,
  observeWorkerStart,
} from "../../../../src/pipelines/podWorker/podMetrics.ts";
import { type Marbles, marbles, TEST_EPOCH_MS } from "../../../support/marbles.ts";
import { podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

function worker({ clock }: Marbles) {
  const telemetry = recordingTelemetry();
  const memory = createPodMemories(monotonicMs(0));
  const context = { ports: { clock, telemetry }, memory, runtimeStatus: () => undefined } as unknown as PodContext;
  return { telemetry, memory, context };
}
const RUNS = 'kubelet_pod_worker_duration_seconds{operation_type="sync"}';
const seenAt = (text: string): Pod => podOf({ annotations: { "kubernetes.io/config.seen": text } });

describe("metrics of a pod worker", () => {
  it(
    "have the duration of a run that completes",
    marbles((m) => {
      const run = "     1500ms |";
      const expected = "1500ms |";

      const { context, telemetry } = worker(m);
      m.expectObservable(m.cold(run).pipe(measureRun(context, "sync"))).toBe(expected);
      m.flush();
      expect(telemetry.observations.get(RUNS)).toEqual([1.5]);
    }),
  );

  it(
    "have the duration of a run that is cancelled",
    marbles((m) => {
      const run = "     ---";
      const unsub = "   500ms !";
      const expected = "---";

      const { context, telemetry } = worker(m);
      m.expectObservable(m.cold(run).pipe(measureRun(context, "sync")), unsub).toBe(expected);
      m.flush();
      expect(telemetry.observations.get(RUNS)).toEqual([0.5]);
    }),
  );

  it(
    "have no duration of a sync without actions",
    marbles((m) => {
      const { context, telemetry } = worker(m);
      observeIdleSync(context);
      expect(telemetry.observations.get(RUNS)).toEqual([0]);
    }),
  );

  it.each([
    ["a second and a half ago", -1500, [1.5]],
    ["later than now", 1500, [0]],
  ])("have the time since a source saw the pod %s", (_, offsetMs, expected) =>
    marbles((m) => {
      const { context, telemetry } = worker(m);
      observeWorkerStart(context, seenAt(new Date(TEST_EPOCH_MS + offsetMs).toISOString()));
      expect(telemetry.observations.get("kubelet_pod_worker_start_duration_seconds")).toEqual(expected);
    })(),
  );

  it(
    "have no start of a pod without the time",
    marbles((m) => {
      const { context, telemetry } = worker(m);
      observeWorkerStart(context, podOf());
      observeWorkerStart(context, seenAt("once"));
      expect([...telemetry.observations]).toEqual([]);
    }),
  );
});

describe("exits of containers", () => {
  const command = {
    pod: podOf({
      spec: {
        containers: [{ name: "main" }],
        initContainers: [{ name: "init" }],
        ephemeralContainers: [{ name: "debug" }],
      },
    }),
  } as unknown as PodCommand;
  const container = (id: string, name: string, state = "exited") => ({ id, name, state, exitCode: 3, reason: "Error" });
  const runtimeOf = (...containers: readonly ReturnType<typeof container>[]) =>
    ({ containers }) as unknown as PodRuntimeStatus;
  const series = (type: string): string =>
    `kubelet_terminated_containers_total{container_type="${type}",exit_code="3",reason="Error"}`;

  it(
    "are counted once each, by the type of the container",
    marbles((m) => {
      const { context, telemetry } = worker(m);
      const all = runtimeOf(
        container("1", "main"),
        container("2", "init"),
        container("3", "debug"),
        container("4", "main"),
        container("5", "main", "running"),
      );
      countExits(context, all, command, false);
      countExits(context, all, command, false);
      expect(Object.fromEntries(telemetry.samples)).toEqual({
        [series("container")]: 2,
        [series("init_container")]: 1,
        [series("ephemeral_container")]: 1,
      });
    }),
  );

  it(
    "before the first inspection are not counted",
    marbles((m) => {
      const { context, telemetry } = worker(m);
      const before = container("1", "main");
      countExits(context, runtimeOf(before), command, true);
      countExits(context, runtimeOf(before), command, false);
      expect([...telemetry.samples]).toEqual([]);
      countExits(context, runtimeOf(before, container("2", "main")), command, false);
      expect(telemetry.samples.get(series("container"))).toBe(1);
    }),
  );

  it(
    "are forgotten with the container",
    marbles((m) => {
      const { context, memory } = worker(m);
      countExits(context, runtimeOf(container("1", "main"), container("2", "main")), command, false);
      countExits(context, runtimeOf(container("2", "main")), command, false);
      expect([...memory.start.seenExits]).toEqual(["2"]);
    }),
  );
});

describe("the active deadline", () => {
  const pod = podOf({ spec: { activeDeadlineSeconds: 10 } });

  it(
    "is counted from the start time, and by the monotonic clock since it is known",
    marbles((m) => {
      const { context, memory } = worker(m);
      expect(deadlineLeftMs(context, podOf())).toBeUndefined();
      expect(deadlineLeftMs(context, pod)).toBe(10_000);
      memory.reported.status = { startTime: new Date(epochMs(TEST_EPOCH_MS - 4000)).toISOString() };
      expect(deadlineLeftMs(context, pod)).toBe(6000);
      memory.reported.firstAt = monotonicMs(0);
      m.at(1000, () => {
        expect(deadlineLeftMs(context, pod)).toBe(5000);
        memory.reported.status = { startTime: new Date(TEST_EPOCH_MS + 1000).toISOString() };
        expect(deadlineLeftMs(context, pod)).toBe(9000);
      });
      m.flush();
    }),
  );
});
