import { map } from "rxjs";
import { describe, expect, it } from "vitest";
import { podUid } from "../../../src/core/ids.ts";
import { freshRecord } from "../../../src/core/pod/podRecord.ts";
import {
  emptyRegistry,
  type PodRecordState,
  type PreemptedPod,
  type RegistryStep,
} from "../../../src/core/pod/podRegistry.ts";
import { unchangedStep } from "../../../src/core/pod/podRegistryTypes.ts";
import type { PodOutput } from "../../../src/pipelines/podOutputs.ts";
import { preemption } from "../../../src/pipelines/preemption.ts";
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
/** `Preempting`, `ExceededGracePeriod`, `overdue`. */
const short = (output: PodOutput): string => (output.kind === "event" ? output.event.reason : output.kind);
const SAID = { P: "Preempting", E: "ExceededGracePeriod", o: "overdue" };

/** The pipeline fed with victims by a diagram, on a node where pod `a` is being stopped. */
function follow({ hot, clock }: Marbles, diagram: string, values: Readonly<Record<string, PreemptedPod>>) {
  const [state, telemetry] = [createNodeState(), recordingTelemetry()];
  const enter = (is: PodRecordState): void => {
    const record = { ...freshRecord({ uid, name: "a", namespace: "demo" }), state: is };
    state.registry.set({ ...emptyRegistry, records: new Map([[uid, record]]) });
  };
  enter("terminating");
  const steps = Object.entries(values).map(([name, each]): [string, RegistryStep] => [
    name,
    { ...unchangedStep(emptyRegistry), preempted: [each] },
  ]);
  const steps$ = hot<RegistryStep>(diagram, Object.fromEntries(steps));
  const output$ = preemption(steps$, state, { clock, telemetry }).pipe(map(short));
  const counted = () => telemetry.samples.get('kubelet_preemptions{preemption_signal="memory"}');
  return { enter, output$, counted };
}

describe("preemption", () => {
  it(
    "tells the pod, and counts it by the missing resource once it has stopped in time",
    marbles((test) => {
      const { enter, output$, counted } = follow(test, "a", { a: victim(30) });
      test.at(44_999, () => {
        expect(counted()).toBeUndefined();
        enter("terminated");
      });
      test.expectObservable(output$, "60s !").toBe("P", SAID);
      test.flush();
      expect(counted()).toBe(1);
    }),
  );

  it(
    "gives up waiting after half as much again as the grace, says so, and counts nothing",
    marbles((test) => {
      const { enter, output$, counted } = follow(test, "a", { a: victim(30) });
      test.at(50_000, () => enter("terminated"));
      test.expectObservable(output$, "60s !").toBe("P 44999ms (Eo)", SAID);
      test.flush();
      expect(counted()).toBeUndefined();
    }),
  );

  it(
    "waits ten seconds at least, whatever the grace",
    marbles((test) => {
      const { output$ } = follow(test, "a", { a: victim(1) });
      test.expectObservable(output$, "60s !").toBe("P 9999ms (Eo)", SAID);
    }),
  );
});
