import { of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { containerId, podUid } from "../../../../src/core/ids.ts";
import type { ContainerReset } from "../../../../src/core/pod/restartAllContainers.ts";
import { emptyRuntimeStatus } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import type { PodContext } from "../../../../src/pipelines/podContext.ts";
import { createPodMemories } from "../../../../src/pipelines/podMemories.ts";
import { resetContainers } from "../../../../src/pipelines/podWorker/resetContainers.ts";
import type { RoundOutput } from "../../../../src/pipelines/podWorker/roundFailure.ts";
import { createSequence } from "../../../../src/state/sequence.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const UID = podUid("uid-1");
const POD = podOf({ spec: { containers: ["a", "b"].map((name) => containerOf({ name })) } });
const RESETS = ["a", "b"].map(
  (name) => ({ container: { id: containerId(name), name }, kill: true, remove: true }) as unknown as ContainerReset,
);

/** Resets both containers of the pod; `refused` are the calls that the runtime refuses. */
function reset({ clock, flush }: Marbles, refused: readonly string[]) {
  const calls: string[] = [];
  const answer = (call: string) => {
    calls.push(call);
    return refused.includes(call) ? throwError(() => kubeletError("Unavailable", call)) : of({});
  };
  const context = {
    identity: { uid: UID, name: "plain", namespace: "demo" },
    memory: createPodMemories(clock.monotonicMs()),
    state: { sequence: createSequence() },
    runtimeStatus: () => emptyRuntimeStatus(UID, "plain", "demo", 0),
    ports: {
      clock,
      telemetry: recordingTelemetry(),
      runtime: {
        stopContainer: (request: { containerId: string }) => answer(`stop ${request.containerId}`),
        removeContainer: (request: { containerId: string }) => answer(`remove ${request.containerId}`),
      },
    },
  } as unknown as PodContext;
  const outputs: RoundOutput[] = [];
  resetContainers(context, POD, RESETS, new AbortController().signal).subscribe((output) => outputs.push(output));
  flush();
  return { calls, failures: outputs.flatMap((output) => (output.kind === "failed" ? output.error.code : [])) };
}

describe("resetContainers", () => {
  it.each([
    { refused: [], calls: ["stop a", "remove a", "stop b", "remove b"], failures: [] },
    { refused: ["stop a"], calls: ["stop a"], failures: ["Unavailable"] },
    { refused: ["remove a"], calls: ["stop a", "remove a"], failures: ["Unavailable"] },
    { refused: ["stop b"], calls: ["stop a", "remove a", "stop b"], failures: ["Unavailable"] },
  ])("stops and removes one container after the other, up to the first failure: $refused", (expected) => {
    marbles((m) => expect({ refused: expected.refused, ...reset(m, expected.refused) }).toEqual(expected))();
  });
});
