import { expect, it } from "vitest";
import * as refusals from "../../../../src/core/apiObjects/refusals.ts";
import type { KubeletError } from "../../../../src/core/errors.ts";

const failure = (code: number, reason: string, message: string, details?: object) => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message,
  reason,
  code,
  ...(details === undefined ? {} : { details }),
});
const POD = { name: "web", kind: "pods" };
const LEASE = { name: "n", kind: "leases", group: "coordination.k8s.io" };
const problem = (field: string, reason: string) => ({ severity: "error" as const, field, reason });

it.each<[title: string, error: KubeletError, code: string, status: object]>([
  [
    "a missing pod",
    refusals.notFound("pods", "web"),
    "NotFound",
    failure(404, "NotFound", 'pods "web" not found', POD),
  ],
  [
    "a missing lease",
    refusals.notFound("leases", "n"),
    "NotFound",
    failure(404, "NotFound", 'leases.coordination.k8s.io "n" not found', LEASE),
  ],
  [
    "a pod that exists",
    refusals.alreadyExists("pods", "web"),
    "AlreadyExists",
    failure(409, "AlreadyExists", 'pods "web" already exists', POD),
  ],
  [
    "an old version",
    refusals.staleVersion("pods", "web"),
    "Conflict",
    failure(
      409,
      "Conflict",
      'Operation cannot be fulfilled on pods "web": the object has been modified; please apply your changes to the latest version and try again',
      POD,
    ),
  ],
  [
    "an unknown propagation policy",
    refusals.invalidOptions("Now", ["Background", "Orphan"]),
    "InvalidArgument",
    failure(
      422,
      "Invalid",
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Now": supported values: "Background", "Orphan", "nil"',
    ),
  ],
  [
    "a denied pod",
    refusals.forbidden("pods", "web", "no"),
    "PermissionDenied",
    failure(403, "Forbidden", 'pods "web" is forbidden: no', POD),
  ],
  [
    "a denied list",
    refusals.forbidden("leases", "", "no"),
    "PermissionDenied",
    failure(403, "Forbidden", "leases.coordination.k8s.io is forbidden: no", { ...LEASE, name: "" }),
  ],
  [
    "an invalid field",
    refusals.invalidObject("pods", "web", [problem("spec.x", "Required value")]),
    "InvalidArgument",
    failure(422, "Invalid", 'Pod "web" is invalid: spec.x: Required value', {
      name: "web",
      kind: "Pod",
      causes: [{ field: "spec.x", message: "Required value", reason: "FieldValueRequired" }],
    }),
  ],
  [
    "several invalid fields",
    refusals.invalidObject("leases", "n", [problem("a", "Not found: x"), problem("b", 'Invalid value: "y": z')]),
    "InvalidArgument",
    failure(422, "Invalid", 'Lease.coordination.k8s.io "n" is invalid: [a: Not found: x, b: Invalid value: "y": z]', {
      name: "n",
      kind: "Lease",
      group: "coordination.k8s.io",
      causes: [
        { field: "a", message: "Not found: x", reason: "FieldValueNotfound" },
        { field: "b", message: 'Invalid value: "y": z', reason: "FieldValueInvalid" },
      ],
    }),
  ],
  ["a malformed request", refusals.badRequest("x"), "InvalidArgument", failure(400, "BadRequest", "x")],
  [
    "another content type",
    refusals.unsupportedMediaType("x"),
    "InvalidArgument",
    failure(415, "UnsupportedMediaType", "x"),
  ],
  ["a version that is gone", refusals.expired("x"), "Expired", failure(410, "Expired", "x")],
  [
    "a version of the future",
    refusals.tooNew(9, 7),
    "DeadlineExceeded",
    failure(504, "Timeout", "Too large resource version: 9, current: 7", {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    }),
  ],
  [
    "too many requests",
    refusals.tooManyRequests(),
    "TooManyRequests",
    failure(429, "TooManyRequests", "Too many requests, please try again later.", { retryAfterSeconds: 1 }),
  ],
  [
    "a failure of the storage",
    refusals.internalError(),
    "Unknown",
    failure(500, "InternalError", "Internal error occurred: etcdserver: request timed out"),
  ],
  [
    "a server that starts",
    refusals.serviceUnavailable(),
    "Unavailable",
    failure(503, "ServiceUnavailable", "the server is currently unable to handle the request"),
  ],
])("the Status of %s", (_, { code, cause }, expectedCode, status) => {
  expect([code, cause]).toEqual([expectedCode, status]);
});

it("a lost connection has no Status", () => {
  const errors = [refusals.connectionRefused(), refusals.connectionLost()];
  expect(errors.map(({ code, message, cause }) => [code, message, cause])).toEqual([
    ["Unavailable", "API server: connection refused", undefined],
    ["Unavailable", "API server: connection lost", undefined],
  ]);
});

it("a completed deletion has the group of a resource outside the core group", () => {
  const success = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" };
  expect([refusals.deletedStatus("pods", "web", "u"), refusals.deletedStatus("leases", "n", "u")]).toEqual([
    { ...success, details: { ...POD, uid: "u" } },
    { ...success, details: { ...LEASE, uid: "u" } },
  ]);
});
