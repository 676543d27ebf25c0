import { describe, expect, it } from "vitest";
import { epochMs, monotonicMs, podUid } from "../../../../src/core/ids.ts";
import { type ActiveDeadlineInput, activeDeadlineLeftMs } from "../../../../src/core/pod/activeDeadline.ts";
import { advanceRegistry, emptyRegistry, type RegistryInput } from "../../../../src/core/pod/podRegistry.ts";
import { emptyRuntimeStatus } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { ALL_RESIZABLE, podOf } from "../../../support/pods.ts";
import { TEST_EPOCH_MS } from "../../../support/marbles.ts";

const pod = podOf({ spec: { activeDeadlineSeconds: 60 } });
const START = "2026-01-01T00:00:00Z";
const at = (seconds: number) => epochMs(TEST_EPOCH_MS + seconds * 1000);
const runtime = emptyRuntimeStatus(podUid("uid-1"), "plain", "demo", 1);
/** The deadline of a pod that this kubelet has just met, unless `input` says otherwise. */
const left = (input: Partial<ActiveDeadlineInput> & Pick<ActiveDeadlineInput, "now">) =>
  activeDeadlineLeftMs({ pod, runtime, previous: undefined, knownForMs: 0, ...input });

describe("activeDeadlineLeftMs", () => {
  it("counts from the start time of the previous status, else from that of the pod object", () => {
    const previous = { startTime: START };
    const fromApi = { ...pod, status: { startTime: "2026-01-01T00:00:30Z" } };
    expect([
      left({ previous, now: at(45) }),
      left({ pod: fromApi, now: at(45) }),
      left({ previous, now: at(61) }),
    ]).toEqual([15_000, 45_000, -1_000]);
  });

  it("counts from the oldest sandbox without a start time, and from now without a sandbox", () => {
    const sandbox = { createdAt: at(20) } as (typeof runtime.sandboxes)[number];
    const withSandbox = { ...runtime, sandboxes: [sandbox] };
    expect([left({ runtime: withSandbox, now: at(30) }), left({ now: at(30) })]).toEqual([50_000, 60_000]);
  });

  it("does not exceed the deadline when the start seems to lie in the future", () => {
    expect(left({ previous: { startTime: START }, now: at(-100) })).toBe(60_000);
  });

  it.each([
    ["set back behind the start", -100, 45_000, 15_000],
    ["set back", 20, 45_000, 15_000],
    ["set forward", 50, 45_000, 10_000],
    ["right, with a start before this kubelet's", 50, 5_000, 10_000],
  ])("uses the clock on which more time has passed: the wall clock is %s", (_, seconds, knownForMs, expected) => {
    expect(left({ previous: { startTime: START }, now: at(seconds), knownForMs })).toBe(expected);
  });

  it("is undefined without a deadline", () => {
    expect(left({ pod: podOf(), previous: { startTime: START }, now: at(1) })).toBeUndefined();
  });
});

describe("registry", () => {
  it("terminates a pod whose deadline has passed, with the reason", () => {
    const admit = () => ({ admitted: true, preempt: [] }) as const;
    const context = {
      now: monotonicMs(0),
      parts: ALL_RESIZABLE,
      admit,
      infeasible: () => undefined,
      sourcesReady: true,
      runtimePods: [],
    };
    const added: RegistryInput = { kind: "update", update: { op: "ADD", source: "api", pods: [pod] } };
    const { registry } = advanceRegistry(emptyRegistry, added, context);
    const step = advanceRegistry(registry, { kind: "deadlineExceeded", uid: podUid("uid-1") }, context);
    expect(step.commands).toEqual([
      {
        phase: "terminating",
        identity: { uid: "uid-1", name: "plain", namespace: "demo" },
        pod,
        graceSeconds: 30,
        override: {
          phase: "Failed",
          outlastsContainers: true,
          reason: "DeadlineExceeded",
          message: "Pod was active on the node longer than the specified deadline",
        },
      },
    ]);
  });
});
