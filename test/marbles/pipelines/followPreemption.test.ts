import { map } from "rxjs";
import { describe, expect, it } from "vitest";
import { leavingDue, type OverdueFor } from "../../../src/core/admission/leavingPods.ts";
import { monotonicMs, podUid } from "../../../src/core/ids.ts";
import { freshRecord } from "../../../src/core/pod/podRecord.ts";
import {
  emptyRegistry,
  type PodRecordState,
  type PreemptedPod,
  type RegistryStep,
} from "../../../src/core/pod/podRegistry.ts";
import { unchangedStep } from "../../../src/core/pod/podRegistryTypes.ts";
import type { PodOutput } from "../../../src/pipelines/podOutputs.ts";
import { preemption } from "../../../src/pipelines/followPreemption.ts";
import { createNodeState } from "../../../src/state/nodeState.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";
import { podOf } from "../../support/pods.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const uid = podUid("a");
const victim = (graceSeconds: number): PreemptedPod => ({
  uid,
  pod: podOf({ uid: "a", name: "a" }),
  graceSeconds,
  shortOf: "memory",
});
/** `Preempting`. */
const short = (output: PodOutput): string => (output.kind === "event" ? output.event.reason : output.kind);
const SAID = { P: "Preempting" };

/** The pipeline fed with victims by a diagram, on a node where pod `a` is being stopped. */
function follow({ hot }: Marbles, diagram: string, values: Readonly<Record<string, PreemptedPod>>) {
  const [state, telemetry] = [createNodeState(), recordingTelemetry()];
  const enter = (is: PodRecordState, overdueFor?: OverdueFor): void => {
    const leaving = { due: leavingDue(30, monotonicMs(0)), overdueFor };
    const record = { ...freshRecord({ uid, name: "a", namespace: "demo" }), state: is, leaving };
    state.registry.set({ ...emptyRegistry, records: new Map([[uid, record]]) });
  };
  enter("terminating");
  const steps = Object.entries(values).map(([name, each]): [string, RegistryStep] => [
    name,
    { ...unchangedStep(emptyRegistry), preempted: [each] },
  ]);
  const steps$ = hot<RegistryStep>(diagram, Object.fromEntries(steps));
  const output$ = preemption(steps$, { telemetry }, state).pipe(map(short));
  const counted = () => telemetry.samples.get('kubelet_preemptions{preemption_signal="memory"}');
  return { enter, output$, counted };
}

describe("preemption", () => {
  it(
    "records an event of the pod, and counts it by the missing resource when it stopped in time",
    marbles((test) => {
      const unsub = "   60s !";
      const expected = "P";

      const { enter, output$, counted } = follow(test, "a", { a: victim(30) });
      test.at(44_999, () => {
        expect(counted()).toBeUndefined();
        enter("terminated");
      });
      test.expectObservable(output$, unsub).toBe(expected, SAID);
      test.flush();
      expect(counted()).toBe(1);
    }),
  );

  it(
    "counts nothing when the stop is overdue",
    marbles((test) => {
      const unsub = "   60s !";
      const expected = "P";

      const { enter, output$, counted } = follow(test, "a", { a: victim(30) });
      test.at(45_000, () => enter("terminating", "criticalPods"));
      test.at(50_000, () => enter("terminated"));
      test.expectObservable(output$, unsub).toBe(expected, SAID);
      test.flush();
      expect(counted()).toBeUndefined();
    }),
  );
});
