import { describe, expect, it } from "vitest";
import { accessReview, isAllowed } from "../../../../src/core/auth/accessReview.ts";
import type { RequestUser } from "../../../../src/core/auth/requestUser.ts";

const jane: RequestUser = { name: "jane", groups: ["dev"], extra: {} };

describe("accessReview", () => {
  it.each<[string, RequestUser, string, object, object]>([
    ["user and groups", jane, "get", { user: "jane", groups: ["dev"] }, { verb: "get" }],
    ["no verb of a method without one", jane, "", { user: "jane", groups: ["dev"] }, {}],
    [
      "UID and extra fields",
      { ...jane, uid: "u1", extra: { scope: ["a"] } },
      "create",
      { user: "jane", uid: "u1", groups: ["dev"], extra: { scope: ["a"] } },
      { verb: "create" },
    ],
  ])("has %s", (_, user, verb, owner, attributes) => {
    expect(accessReview({ user, verb, subresource: "proxy" }, "n1")).toEqual({
      spec: {
        ...owner,
        resourceAttributes: { ...attributes, version: "v1", resource: "nodes", subresource: "proxy", name: "n1" },
      },
    });
  });
});

describe("isAllowed", () => {
  it.each([
    [undefined, false],
    [{ allowed: false }, false],
    [{ allowed: true }, true],
    [{ allowed: true, denied: false }, true],
    [{ allowed: true, denied: true }, false],
    [{ allowed: false, denied: true }, false],
  ])("of %j is %s", (status, expected) => {
    expect(isAllowed(status)).toBe(expected);
  });
});
