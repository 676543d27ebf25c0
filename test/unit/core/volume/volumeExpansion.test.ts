import { describe, expect, it } from "vitest";
import {
  type Claim,
  expansionStep,
  finishedPatch,
  refusedExpansion,
  refusedPatch,
  sizeBytes,
  startedPatch,
} from "../../../../src/core/volume/volumeExpansion.ts";

const claimOf = (status: object, requested = "2Gi"): Claim => ({
  metadata: { resourceVersion: "7" },
  spec: { resources: { requests: { storage: requested } } },
  status,
});
const resizing = (storage: string, more: object = {}) =>
  claimOf({ capacity: { storage: "1Gi" }, allocatedResourceStatuses: { storage }, ...more });
const condition = (type: string, status = "True") => ({ type, status });

describe("the step of an expansion", () => {
  const expand = { kind: "expand", isRecoverable: true, isLast: false };
  it.each([
    ["pending", resizing("NodeResizePending"), { ...expand, tells: "all" }],
    ["in progress", resizing("NodeResizeInProgress"), { ...expand, tells: "all" }],
    ["infeasible", resizing("NodeResizeInfeasible"), { kind: "leave" }],
    [
      "pending to another size than that of the volume as it was looked up",
      resizing("NodeResizePending", { allocatedResources: { storage: "3Gi" } }),
      { kind: "leave" },
    ],
    [
      "pending to the size of the volume",
      resizing("NodeResizePending", { allocatedResources: { storage: "2Gi" } }),
      { ...expand, tells: "all" },
    ],
    ["still with the controller", resizing("ControllerResizeInProgress"), { kind: "leave" }],
    [
      "done on another node",
      claimOf({ capacity: { storage: "2048Mi" }, allocatedResources: { storage: "2Gi" } }),
      { ...expand, tells: "nothing" },
    ],
    [
      "not told, although sizes are allocated",
      claimOf({ capacity: { storage: "1Gi" }, allocatedResources: { storage: "2Gi" } }),
      { kind: "leave" },
    ],
    [
      "of an older controller",
      claimOf({ capacity: { storage: "1Gi" } }),
      { ...expand, tells: "end", isRecoverable: false },
    ],
    [
      "of an older controller, done on another node",
      claimOf({ capacity: { storage: "2Gi" } }),
      { ...expand, tells: "nothing", isRecoverable: false },
    ],
  ])("that is %s", (_what, claim, step) => {
    expect(expansionStep(claim, "2Gi", false)).toEqual(step);
  });

  it.each([
    ["after a refusal, when the claim has another size", true, "3Gi", true],
    ["after a refusal, when the claim has the size", true, "2Gi", false],
    ["at first", false, "3Gi", false],
  ])("is the last one %s: %s", (_when, hasFailed, requested, isLast) => {
    const claim = claimOf({ allocatedResourceStatuses: { storage: "NodeResizePending" } }, requested);
    expect(expansionStep(claim, "2Gi", hasFailed)).toMatchObject({ isLast });
  });
});

it.each([
  ["1Gi", 2n ** 30n],
  [undefined, 0n],
  ["much", 0n],
])("the size %s has %s bytes", (text, bytes) => {
  expect(sizeBytes(text)).toBe(bytes);
});

it.each([
  [9, "inUse"],
  [3, "infeasible"],
  [5, "infeasible"],
  [11, "infeasible"],
  [13, "failed"],
  [undefined, "failed"],
])("the answer %s refuses an expansion as %s", (status, kind) => {
  expect(refusedExpansion(status)).toBe(kind);
});

describe("the patch of a claim", () => {
  it("tells the start once, to the version that was read", () => {
    expect(startedPatch(resizing("NodeResizePending"))).toEqual({
      metadata: { resourceVersion: "7" },
      status: { allocatedResourceStatuses: { storage: "NodeResizeInProgress" } },
    });
    expect(startedPatch(resizing("NodeResizeInProgress"))).toBeUndefined();
  });

  it("tells the end with the size, and removes status and conditions of the expansion alone", () => {
    const conditions = ["FileSystemResizePending", "NodeResizeError", "Other"].map((type) => condition(type));
    expect(finishedPatch(resizing("NodeResizeInProgress", { conditions }), "2Gi")).toEqual({
      metadata: { resourceVersion: "7" },
      status: {
        capacity: { storage: "2Gi" },
        allocatedResourceStatuses: null,
        conditions: [
          { $patch: "delete", type: "FileSystemResizePending" },
          { $patch: "delete", type: "NodeResizeError" },
        ],
      },
    });
  });

  it.each([
    ["keeps statuses of other resources", { storage: "NodeResizeInProgress", other: "x" }, { storage: null }],
    ["touches no status that is none", undefined, undefined],
  ])("at the end %s", (_what, allocatedResourceStatuses, expected) => {
    const claim = claimOf({ ...(allocatedResourceStatuses && { allocatedResourceStatuses }) });
    expect(finishedPatch(claim, "2Gi")["status"]).toEqual({
      capacity: { storage: "2Gi" },
      ...(expected && { allocatedResourceStatuses: expected }),
    });
  });

  const refusal = { message: "why", now: "2026-01-01T00:00:00Z" };
  const error = { ...condition("NodeResizeError"), lastTransitionTime: refusal.now };
  it.each([
    ["a failure as a condition", [], false, { conditions: [{ ...error, message: "failed to expand pvc with why" }] }],
    [
      "one that can never succeed also as a status",
      [],
      true,
      {
        allocatedResourceStatuses: { storage: "NodeResizeInfeasible" },
        conditions: [{ ...error, message: "failed to expand pvc with why" }],
      },
    ],
    [
      "no second condition",
      [condition("NodeResizeError")],
      true,
      { allocatedResourceStatuses: { storage: "NodeResizeInfeasible" } },
    ],
    ["nothing twice", [condition("NodeResizeError")], false, undefined],
  ])("tells %s", (_what, conditions, isInfeasible, status) => {
    const patch = refusedPatch(resizing("NodeResizeInProgress", { conditions }), { ...refusal, isInfeasible });
    expect(patch).toEqual(status && { status });
  });
});
