import { describe, it } from "vitest";
import type { PodStatus } from "../../../../src/core/api.ts";
import { epochMs, monotonicMs, podUid } from "../../../../src/core/ids.ts";
import { freshRecord, identityOf } from "../../../../src/core/pod/podRecord.ts";
import { emptyRegistry } from "../../../../src/core/pod/podRegistry.ts";
import { emptyTimeline } from "../../../../src/core/timeline/advanceTimeline.ts";
import type { PodTimeline, TimelineEntry } from "../../../../src/core/timeline/timelineTypes.ts";
import { watchPlaces } from "../../../../src/pipelines/live/watchPlaces.ts";
import { createQueues } from "../../../../src/pipelines/queues.ts";
import { createNodeState } from "../../../../src/state/nodeState.ts";
import { type Marbles, marbles, TEST_EPOCH_MS } from "../../../support/marbles.ts";
import { podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const UID = podUid("uid-1");
const SINCE = { wall: epochMs(0), mono: monotonicMs(0) };
const entry = (at: number, what: string, more: Partial<TimelineEntry> = {}): TimelineEntry => ({
  ...{ at: epochMs(at), what },
  ...more,
});
const timelineOf = (...entries: readonly TimelineEntry[]): PodTimeline => ({
  ...emptyTimeline({ uid: UID, name: "plain", namespace: "demo" }, SINCE),
  entries,
});

/** A node, and what its watchers see. */
function watched(clock: Marbles["clock"]) {
  const state = createNodeState();
  const queues = createQueues({ clock, telemetry: recordingTelemetry() });
  return { state, queues, drafts$: watchPlaces(state, queues, clock) };
}

const at = (frame: number) => TEST_EPOCH_MS + frame;

describe("watchPlaces", () => {
  it(
    "has a marble for each new value of a cell, none for the first, and works only while it is subscribed",
    marbles(({ clock, at: atFrame, expectObservable }) => {
      const expected = "-m-n-";
      const unsub = "   ----!";

      const { state, drafts$ } = watched(clock);
      atFrame(1, () => state.shuttingDown.set(true));
      atFrame(3, () => state.images.set([]));
      atFrame(5, () => state.shuttingDown.set(false));
      expectObservable(drafts$, unsub).toBe(expected, {
        m: { place: "shuttingDown", at: at(1), text: "the machine shuts down" },
        n: { place: "images", at: at(3), text: "0 entries" },
      });
    }),
  );

  it(
    "names the pod whose state in the registry changed, and its status",
    marbles(({ clock, at: atFrame, expectObservable }) => {
      const expected = "-m-n-o-p-";
      const unsub = "   --------!";

      const { state, drafts$ } = watched(clock);
      const pod = podOf();
      const registryWith = (more: object) => ({
        ...emptyRegistry,
        records: new Map([[UID, { ...freshRecord(identityOf(pod)), pod, ...more }]]),
      });
      const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } as unknown as PodStatus;
      atFrame(1, () => state.registry.set(registryWith({ state: "syncing" })));
      atFrame(3, () => state.podStatuses.set(UID, status));
      atFrame(5, () => state.registry.set(registryWith({ state: "terminating" })));
      atFrame(7, () => state.registry.set(emptyRegistry));
      expectObservable(drafts$, unsub).toBe(expected, {
        m: { place: "registry", at: at(1), pod: UID, text: "syncing" },
        n: { place: "podStatuses", at: at(3), pod: UID, text: "Running, Ready" },
        o: { place: "registry", at: at(5), pod: UID, text: "terminating" },
        p: { place: "registry", at: at(7), pod: UID, text: "removed" },
      });
    }),
  );

  it(
    "sees what is pushed into a queue, without taking it",
    marbles(({ clock, at: atFrame, expectObservable }) => {
      const expected = "-m-n--";
      const taken = "   -a----";
      const unsub = "   -----!";

      const { queues, drafts$ } = watched(clock);
      atFrame(1, () => queues.inspections.push(UID));
      const update = { op: "ADD", source: "api", pods: [podOf()] } as const;
      atFrame(3, () => queues.registryInputs.push({ kind: "update", update }));
      expectObservable(drafts$, unsub).toBe(expected, {
        m: { place: "inspections", at: at(1), pod: UID, text: "inspect" },
        n: { place: "registryInputs", at: at(3), pod: UID, text: "ADD plain" },
      });
      expectObservable(queues.inspections.values$, unsub).toBe(taken, { a: UID });
    }),
  );

  it(
    "has the past steps of pods at once in their order, then each that has ended",
    marbles(({ clock, at: atFrame, expectObservable }) => {
      const expected = "(mn)o-p--";
      const unsub = "   ---------!";

      const { state, drafts$ } = watched(clock);
      const old = [entry(5, "Pulled"), entry(2, "RunPodSandbox", { tookMs: 2 })];
      state.timelines.set(UID, timelineOf(...old));
      const failed = entry(9, "StartContainer", { container: "main", outcome: "failed", message: "no" });
      atFrame(4, () => state.timelines.set(UID, timelineOf(...old, entry(8, "CreateContainer"))));
      atFrame(6, () => state.timelines.set(UID, { ...timelineOf(failed), dropped: 3 }));
      atFrame(7, () => state.timelines.delete(UID));
      const step = { place: "timelines", pod: UID };
      expectObservable(drafts$, unsub).toBe(expected, {
        m: { ...step, at: 4, text: "RunPodSandbox", tookMs: 2 },
        n: { ...step, at: 5, text: "Pulled" },
        o: { ...step, at: 8, text: "CreateContainer" },
        p: { ...step, at: 9, text: "StartContainer main", outcome: "failed", detail: "no" },
      });
    }),
  );

  it(
    "has the end of a container when it ended, whatever time the container ran",
    marbles(({ clock, at: atFrame, expectObservable }) => {
      const expected = "--m--";
      const unsub = "   -----!";

      const { state, drafts$ } = watched(clock);
      const exited = entry(9, "Exited", { container: "main", tookMs: 7 });
      atFrame(2, () => state.timelines.set(UID, timelineOf(exited)));
      expectObservable(drafts$, unsub).toBe(expected, {
        m: { place: "timelines", pod: UID, at: 9, text: "Exited main", tookMs: 7 },
      });
    }),
  );
});
