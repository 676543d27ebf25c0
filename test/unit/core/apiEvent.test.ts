import { describe, expect, it } from "vitest";
import { apiEvent, type CountedEvent, eventPatch, isExpectedRefusal, isRefused } from "../../../src/core/apiEvent.ts";
import { apiError } from "../../../src/core/api/apiStatus.ts";
import { type ErrorCode, kubeletError } from "../../../src/core/errors.ts";
import type { KubeletEvent } from "../../../src/core/events.ts";
import { epochMs } from "../../../src/core/ids.ts";

const BEGAN_MS = 1_767_225_600_000;
const counted = (object: Partial<KubeletEvent["object"]>, count = 1): CountedEvent => ({
  event: {
    type: "Normal",
    reason: "Started",
    message: "Container started",
    object: {
      kind: "Pod",
      namespace: "demo",
      name: "web",
      uid: "uid-1",
      fieldPath: "spec.containers{main}",
      ...object,
    },
  },
  count,
  beganNs: BigInt(BEGAN_MS) * 1_000_000n + 7n,
  lastAt: epochMs(BEGAN_MS + 61_000),
});

describe("apiEvent", () => {
  it("has the annotations of the event, if there are any", () => {
    const { event, ...series } = counted({});
    const metadataOf = (annotations: Readonly<Record<string, string>>) =>
      apiEvent({ event: { ...event, annotations }, ...series }, "node-1").metadata;
    expect(metadataOf({ starved_resource: "memory" }).annotations).toEqual({ starved_resource: "memory" });
    expect(metadataOf({})).not.toHaveProperty("annotations");
  });

  it("equals the event that tools/record creates for a container", () => {
    expect(apiEvent(counted({}, 3), "node-1")).toEqual({
      metadata: { namespace: "demo", name: "web.18867251edfa0007" },
      involvedObject: {
        kind: "Pod",
        namespace: "demo",
        name: "web",
        uid: "uid-1",
        apiVersion: "v1",
        fieldPath: "spec.containers{main}",
      },
      reason: "Started",
      message: "Container started",
      source: { component: "kubelet", host: "node-1" },
      firstTimestamp: "2026-01-01T00:00:00Z",
      lastTimestamp: "2026-01-01T00:01:01Z",
      count: 3,
      type: "Normal",
      reportingComponent: "kubelet",
      reportingInstance: "node-1",
    });
  });

  it("contains the resource version of the involved object when there is one", () => {
    const { involvedObject } = apiEvent(counted({ resourceVersion: "577" }), "node-1");
    expect(involvedObject.resourceVersion).toBe("577");
  });

  it("puts events of nodes into the default namespace", () => {
    const { metadata, involvedObject } = apiEvent(
      counted({ kind: "Node", namespace: "", name: "node-1", uid: "node-1", fieldPath: "" }),
      "node-1",
    );
    expect([metadata.namespace, involvedObject]).toEqual([
      "default",
      { kind: "Node", name: "node-1", uid: "node-1", apiVersion: "v1" },
    ]);
  });

  it("is patched in count, last time and message only", () => {
    expect(eventPatch(counted({}, 4))).toEqual({
      count: 4,
      lastTimestamp: "2026-01-01T00:01:01Z",
      message: "Container started",
    });
  });
});

describe("a response to an event", () => {
  const terminating = { details: { causes: [{ reason: "NamespaceTerminating" }] } };
  it.each([
    ["there is one of that name", apiError({ code: 409, reason: "AlreadyExists" }), [true, true]],
    ["its namespace ends", apiError({ code: 403, ...terminating }), [true, true]],
    ["its namespace was removed", apiError({ code: 404 }), [true, true]],
    ["the event is not valid", apiError({ code: 422 }), [true, false]],
    ["nobody may", apiError({ code: 403 }), [true, false]],
    ["the server is busy", apiError({ code: 429 }), [false, false]],
    ["the server is in trouble", apiError({ code: 500 }), [false, false]],
    ["the server is away", kubeletError("Unavailable", "connection refused"), [false, false]],
    ["nobody answered", kubeletError("DeadlineExceeded", "no answer"), [false, false]],
  ])("%s: final, expected", (_, error, expected) => {
    expect([isRefused(error), isExpectedRefusal(error)]).toEqual(expected);
  });
});

it.each<[ErrorCode, isFinal: boolean, isExpected: boolean]>([
  ["InvalidArgument", true, false],
  ["PermissionDenied", true, false],
  ["NotFound", true, true],
  ["AlreadyExists", true, true],
  ["Conflict", true, false],
  ["Unimplemented", true, false],
  ["Unavailable", false, false],
  ["Unknown", false, false],
])("the error %s of the API server is final: %s, expected: %s", (code, isFinal, isExpected) => {
  const error = kubeletError(code, "no");
  expect([isRefused(error), isExpectedRefusal(error)]).toEqual([isFinal, isExpected]);
});
