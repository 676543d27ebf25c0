import { map, type Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { monotonicMs } from "../../../src/core/ids.ts";
import { advanceRegistry } from "../../../src/core/pod/podRegistry.ts";
import type { RegistryInput, RegistryStep } from "../../../src/core/pod/podRegistry.ts";
import type { PodOutput } from "../../../src/pipelines/podOutputs.ts";
import { resourceWaits } from "../../../src/pipelines/resourceWaits.ts";
import { createNodeState } from "../../../src/state/nodeState.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { CRITICAL, registryNode, said, sizedPod, reported, restored } from "../../support/registryNode.ts";

const GRACE = { terminationGracePeriodSeconds: 30 };
const old = sizedPod("old", "4", GRACE);
const add = (uid: string, priority = 0): RegistryInput => reported("ADD", sizedPod(uid, "4", { priority }));

/** `old all`: nobody waits for it any more; `WaitingForResources new`; `Pending new`. */
function short(output: PodOutput): string {
  switch (output.kind) {
    case "overdue":
      return `${output.uid} ${output.for}`;
    case "event":
      return `${output.event.reason} ${output.event.object.name}`;
    case "status":
      return `${output.status.phase} ${output.uid}`;
    case "fact":
      return output.fact.kind === "remark" ? output.fact.message : output.fact.kind;
    default:
      return output.kind;
  }
}

type RegistryNode = ReturnType<typeof registryNode>;

/** The pipeline of a node with 4 CPUs, all used by `old`, that receives these inputs from a diagram. */
function run(
  { hot, clock }: Marbles,
  diagram: string,
  inputs: Readonly<Record<string, RegistryInput>>,
  { context, registry }: Pick<RegistryNode, "context" | "registry"> = registryNode().send(reported("ADD", old)),
) {
  const [state, telemetry] = [createNodeState(), recordingTelemetry()];
  state.registry.set(registry);
  const advance = (input: RegistryInput): RegistryStep => {
    const step = advanceRegistry(state.registry.value, input, { ...context, now: clock.monotonicMs() });
    state.registry.set(step.registry);
    return step;
  };
  const steps$ = hot<RegistryInput>(diagram, inputs).pipe(map(advance));
  const node = () => ({ hostIPs: ["10.0.0.1"] });
  const outputs$ = resourceWaits(steps$, { clock, telemetry }, state, node);
  const output$: Observable<string> = outputs$.pipe(map(short));
  return { outputs$, output$, telemetry };
}

const INPUTS = {
  g: reported("REMOVE", old),
  n: add("new"),
  m: add("more"),
  c: add("critical", CRITICAL),
  s: said("stopped", "old"),
  x: reported("REMOVE", sizedPod("new", "4")),
};
const SAID = {
  e: "WaitingForResources new",
  p: "Pending new",
  k: "WaitingForResources critical",
  q: "Pending critical",
  E: "ExceededGracePeriod old",
  c: "old criticalPods",
  a: "old everyone",
};

describe("resourceWaits", () => {
  it(
    "reports a wait once, in an event and in the status, with the awaited pods and the deadline",
    marbles((test) => {
      const inputs = "  (gn)-(m)";
      const unsub = "   1s !";
      const expected = "(ep)";

      const { outputs$ } = run(test, inputs, INPUTS);
      const told$ = outputs$.pipe(
        map((output) => {
          if (output.kind === "event") return output.event.message;
          if (output.kind !== "status") return output.kind;
          const { phase, reason, allocatedResources, containerStatuses } = output.status;
          return {
            phase,
            reason,
            allocatedResources,
            states: containerStatuses?.map(({ name, state }) => ({ name, state })),
          };
        }),
      );
      const message = "Waiting for pods to terminate: demo/old; rejected at 2026-01-01T00:01:30Z at the latest";
      const state = { waiting: { reason: "WaitingForResources", message } };
      const status = {
        phase: "Pending",
        reason: undefined,
        allocatedResources: undefined,
        states: [{ name: "main", state }],
      };
      test.expectObservable(told$, unsub).toBe(expected, { e: message, p: status });
    }),
  );

  it(
    "tells the timeline of a pod that waits for a plugin what it needs",
    marbles((test) => {
      const inputs = "  n";
      const unsub = "   1s !";
      const expected = "(rep)";

      const node = registryNode();
      const refusal = {
        ...{ reason: "UnexpectedAdmissionError", message: "away" },
        awaits: { plugin: "example.com/gpu", until: monotonicMs(300_000) },
        remarks: [{ what: "AwaitedDevices", message: "needs 2 of example.com/gpu" }],
      };
      const { output$ } = run(test, inputs, INPUTS, {
        registry: node.registry,
        context: { ...node.context, assignHardware: () => ({ refusal }) },
      });
      test.expectObservable(output$, unsub).toBe(expected, { ...SAID, r: "needs 2 of example.com/gpu" });
    }),
  );

  it(
    "end with the grace and a minute for the stop",
    marbles((test) => {
      const inputs = "  (gn)";
      const unsub = "   200s !";
      const expected = "(ep) 89996ms (Ea)";

      const { output$ } = run(test, inputs, INPUTS);
      test.expectObservable(output$, unsub).toBe(expected, SAID);
    }),
  );

  it(
    "ends the wait when the pod has stopped, and observes its duration",
    marbles((test) => {
      const inputs = "  (gn) 2996ms s";
      const unsub = "   200s !";
      const expected = "(ep)";

      const { output$, telemetry } = run(test, inputs, INPUTS);
      test.expectObservable(output$, unsub).toBe(expected, SAID);
      test.flush();
      expect(telemetry.observations.get('rxlet_resource_wait_duration_seconds{outcome="started"}')).toEqual([3]);
    }),
  );

  it(
    "ends without waiting pods, and restarts with the remaining time",
    marbles((test) => {
      const inputs = "  (gn) 996ms x 58999ms n";
      const unsub = "   200s !";
      const expected = "(ep) 59996ms (ep) 29996ms (Ea)";

      const { output$ } = run(test, inputs, INPUTS);
      test.expectObservable(output$, unsub).toBe(expected, SAID);
    }),
  );

  it(
    "of critical pods end after half as much again as the grace, with upstream's event",
    marbles((test) => {
      const inputs = "  (gc)";
      const unsub = "   200s !";
      const expected = "(kq) 44996ms (Ec)";

      const { output$ } = run(test, inputs, INPUTS);
      test.expectObservable(output$, unsub).toBe(expected, SAID);
    }),
  );

  it(
    "of critical pods for an orphan, which only the runtime knows, end with the event as well",
    marbles((test) => {
      const unsub = "   200s !";
      const expected = "(kq) 9996ms (Ec)";

      const orphaned = registryNode().runs(old).send(restored(old), { kind: "resync" });
      const { output$ } = run(test, "c", INPUTS, orphaned);
      test.expectObservable(output$, unsub).toBe(expected, SAID);
    }),
  );
});
