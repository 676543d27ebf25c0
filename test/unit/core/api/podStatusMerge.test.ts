import { describe, expect, it } from "vitest";
import { mergePodStatus, samePodStatus } from "../../../../src/core/api/podStatusMerge.ts";
import type { PodCondition, PodStatus } from "../../../../src/core/api.ts";

const [T1, T2] = ["2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"];
const condition = (type: string, status: string, lastTransitionTime = T1, more: Partial<PodCondition> = {}) => ({
  type,
  status,
  lastTransitionTime,
  ...more,
});
const AT_REST = { mayRun: false, first: undefined };
const types = ({ conditions = [] }: PodStatus) => conditions.map(({ type, status }) => `${type} ${status}`);

describe("mergePodStatus", () => {
  it("keeps conditions and members of other writers, and replaces its own", () => {
    const server: PodStatus = {
      phase: "Pending",
      nominatedNodeName: "other",
      hostIP: "10.0.0.1",
      conditions: [
        condition("example.com/gate", "True"),
        condition("Ready", "False"),
        condition("PodResizePending", "True"),
      ],
    };
    const own: PodStatus = {
      phase: "Running",
      conditions: [condition("example.com/gate", "False"), condition("Ready", "True")],
    };
    expect(mergePodStatus(server, own, AT_REST)).toEqual({
      phase: "Running",
      nominatedNodeName: "other",
      conditions: [condition("example.com/gate", "True"), condition("Ready", "True")],
    });
  });

  const failed: PodStatus = { phase: "Failed", reason: "Evicted", message: "too big" };
  it.each<[string, string | undefined, boolean, PodStatus]>([
    ["something may run", "Running", true, { phase: "Running", reason: "Fine" }],
    ["nothing runs", "Running", false, failed],
    ["the server has been updated", "Failed", true, failed],
  ])("reports the terminal phase only when nothing runs: %s", (_, phase, mayRun, expected) => {
    const server = { phase, ...(phase === "Running" ? { reason: "Fine" } : {}) } as PodStatus;
    expect(mergePodStatus(server, failed, { mayRun, first: undefined })).toEqual({ ...expected, conditions: [] });
  });

  it.each([
    ["with the end of the pod", { phase: "Running" }, false, ["DisruptionTarget True"]],
    ["not before", { phase: "Running" }, true, []],
    ["nor afterwards", { phase: "Failed" }, false, []],
    [
      "in place of that of another",
      { phase: "Running", conditions: [condition("DisruptionTarget", "False")] },
      false,
      ["DisruptionTarget True"],
    ],
  ])("writes DisruptionTarget %s", (_, server, mayRun, expected) => {
    const own = { phase: "Failed", conditions: [condition("DisruptionTarget", "True")] };
    expect(types(mergePodStatus(server, own, { mayRun, first: undefined }))).toEqual(expected);
  });

  it.each([
    ["as it was when the kubelet started: the server's time", "True", T2, "True", T1],
    ["changed since, and back: its own", "True", T1, "True", T2],
    ["the server knows it otherwise: its own", "True", T2, "False", T2],
  ])("keeps or sets the transition time of a condition that is %s", (_, status, firstTime, known, expected) => {
    const own = { conditions: [condition("Ready", status, T2)] };
    const first = { conditions: [condition("Ready", status, firstTime)] };
    const server = { conditions: [condition("Ready", known, T1)] };
    const merged = mergePodStatus(server, own, { mayRun: true, first });
    expect(merged.conditions).toEqual([condition("Ready", status, expected)]);
  });

  it("never changes the start time of a pod", () => {
    expect(mergePodStatus({ startTime: T1 }, { startTime: T2 }, AT_REST).startTime).toBe(T1);
  });
});

describe("samePodStatus", () => {
  const base: PodStatus = { phase: "Running", conditions: [condition("Ready", "True")] };
  it.each<[string, PodStatus, PodStatus, boolean]>([
    ["the time of a condition", base, { ...base, conditions: [condition("Ready", "True", T2)] }, true],
    ["its message", base, { ...base, conditions: [condition("Ready", "True", T1, { message: "m" })] }, false],
    [
      "the generation it was seen at",
      base,
      { ...base, conditions: [condition("Ready", "True", T1, { observedGeneration: 2 })] },
      false,
    ],
    [
      "a condition of the kubelet that has ended",
      { ...base, conditions: [...(base.conditions ?? []), condition("PodResizePending", "True")] },
      base,
      false,
    ],
    [
      "a condition of others",
      { ...base, conditions: [...(base.conditions ?? []), condition("other", "True")] },
      base,
      true,
    ],
    ["what Go leaves out", base, { ...base, message: "", podIPs: [], resources: { requests: {} } }, true],
    [
      "how a quantity is written",
      { ...base, resources: { requests: { cpu: "500m" } } },
      { ...base, resources: { requests: { cpu: "0.5" } } },
      true,
    ],
    [
      "another quantity",
      { ...base, resources: { requests: { cpu: "500m" } } },
      { ...base, resources: { requests: { cpu: "1" } } },
      false,
    ],
    ["the phase", base, { ...base, phase: "Failed" }, false],
  ])("%s", (_, server, merged, isSame) => expect(samePodStatus(server, merged)).toBe(isSame));
});
