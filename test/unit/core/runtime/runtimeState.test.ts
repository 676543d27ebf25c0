import { describe, expect, it } from "vitest";
import type { StatusResponse } from "../../../../src/gen/cri.ts";
import { monotonicMs } from "../../../../src/core/ids.ts";
import { runtimeDown, runtimeStateOf, unknownRuntimeState } from "../../../../src/core/runtime/runtimeState.ts";

const VERSION = { runtimeName: "containerd", runtimeVersion: "2.0" };
const READY: readonly { type: string; status: boolean; reason: string; message: string }[] = [
  "RuntimeReady",
  "NetworkReady",
].map((type) => ({
  type,
  status: true,
  reason: "",
  message: "",
}));

const stateOf = (response: Partial<StatusResponse>) =>
  runtimeStateOf(
    { status: { conditions: [...READY] }, info: {}, runtimeHandlers: [], features: undefined, ...response },
    VERSION,
  );

describe("the state of a runtime", () => {
  it("has no problem while both conditions are true", () => {
    expect(stateOf({})).toEqual({
      ...VERSION,
      runtimeProblems: [],
      networkProblems: [],
      downSince: undefined,
      handlers: [],
      supplementalGroupsPolicy: undefined,
    });
  });

  it.each([
    ["no status", undefined, "", ""],
    ["no conditions", { conditions: [] }, "", ""],
    [
      "false conditions",
      { conditions: READY.map(({ type }) => ({ type, status: false, reason: "R", message: "m" })) },
      "R",
      "m",
    ],
  ])("has a problem for each condition that is not true: %s", (_, status, reason, message) => {
    const { runtimeProblems, networkProblems } = stateOf({ status });
    expect([runtimeProblems, networkProblems]).toEqual([
      [`container runtime not ready: RuntimeReady=false reason:${reason} message:${message}`],
      [`container runtime network not ready: NetworkReady=false reason:${reason} message:${message}`],
    ]);
  });

  it("takes features that a handler does not report for unsupported", () => {
    const { handlers } = stateOf({
      runtimeHandlers: [
        { name: "", features: undefined },
        { name: "a", features: { recursiveReadOnlyMounts: true, userNamespaces: false } },
        { name: "b", features: { recursiveReadOnlyMounts: false, userNamespaces: true } },
      ],
    });
    expect(handlers).toEqual([
      { name: "", recursiveReadOnlyMounts: false, userNamespaces: false },
      { name: "a", recursiveReadOnlyMounts: true, userNamespaces: false },
      { name: "b", recursiveReadOnlyMounts: false, userNamespaces: true },
    ]);
  });

  it.each([true, false])("reports the support of supplementalGroupsPolicy as %j", (supplementalGroupsPolicy) => {
    expect(
      stateOf({ features: { supplementalGroupsPolicy, userNamespacesHostNetwork: false } }).supplementalGroupsPolicy,
    ).toBe(supplementalGroupsPolicy);
  });
});

it("an unreachable runtime keeps its handlers and the time of the first failure", () => {
  const down = runtimeDown(stateOf({}), "refused", monotonicMs(5));
  expect(down).toMatchObject({ ...VERSION, runtimeProblems: ["container runtime is down: refused"], downSince: 5 });
  expect(runtimeDown(down, "gone", monotonicMs(9))).toMatchObject({
    runtimeProblems: ["container runtime is down: gone"],
    handlers: [],
    downSince: 5,
  });
});

it("an unknown runtime has a problem and no features", () => {
  expect(unknownRuntimeState).toMatchObject({
    runtimeProblems: ["container runtime status check may not have completed yet"],
    networkProblems: [],
    handlers: undefined,
    downSince: undefined,
  });
});
