import { expect, it } from "vitest";
import { rejectedStatus } from "../../../../src/core/pod/rejectedStatus.ts";
import { pod, wall } from "../samples.ts";

const metadata = { name: "web", namespace: "default", uid: "uid" };

it.each([
  ["with its generation", { ...metadata, generation: 3 }, { observedGeneration: 3 }],
  ["without a generation", metadata, {}],
])("a rejected pod is Failed with the reason of the rejection, %s", (_, own, observed) => {
  expect(
    rejectedStatus(pod({}, { metadata: own }), "OutOfcpu", "Node didn't have enough resource: cpu", wall(7)),
  ).toEqual({
    ...observed,
    phase: "Failed",
    message: "Pod was rejected: Node didn't have enough resource: cpu",
    reason: "OutOfcpu",
    startTime: "2026-01-01T00:00:07Z",
    qosClass: "BestEffort",
  });
});
