import { map } from "rxjs";
import { describe, expect, it } from "vitest";
import { podUid } from "../../../src/core/ids.ts";
import type { RegistryInput } from "../../../src/core/pod/podRegistry.ts";
import { createQueues } from "../../../src/pipelines/queues.ts";
import { marbles } from "../../support/marbles.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { registryNode, reported, said, sizedPod } from "../../support/registryNode.ts";

/** The outcome of inputs that a node with 4 CPUs receives in one action, in this order. */
const outcomeOf = (inputs: readonly RegistryInput[]) =>
  marbles(({ clock, at, expectObservable, flush }) => {
    const unsub = "   -----!";
    const expected = "--(ii)";

    const node = registryNode();
    node.send(reported("ADD", sizedPod("old", "4")));
    const { registryInputs } = createQueues({ clock, telemetry: recordingTelemetry() });
    at(2, () => inputs.forEach((input) => registryInputs.push(input)));
    const sent$ = registryInputs.values$.pipe(
      map((input) => {
        node.send(input);
        return "i";
      }),
    );
    expectObservable(sent$, unsub).toBe(expected);
    flush();
    expect(node.states()).toBe("old:terminating new:waiting");
  });

describe("the inputs of the registry", () => {
  const added = reported("ADD", sizedPod("new", "4"));

  it(
    "a pod that comes just before another has ended waits for its resources",
    outcomeOf([added, said("finished", "old")]),
  );
  it(
    "a pod that comes just after another has ended waits for its resources",
    outcomeOf([said("finished", "old"), added]),
  );
  it(
    "a pod that comes just before the deadline of another has passed waits for its resources",
    outcomeOf([added, { kind: "deadlineExceeded", uid: podUid("old") }]),
  );
});
