import { describe, expect, it } from "vitest";
import { answerError } from "../../../../src/core/api/apiAnswer.ts";

const status = (more: object) => JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", ...more });

describe("answerError", () => {
  it.each<[string, number, string | undefined, string, object]>([
    [
      "takes the server's Status as it is",
      409,
      undefined,
      status({ reason: "Conflict", message: "changed", code: 409 }),
      { code: "Conflict", reason: "Conflict", message: "changed", retryable: true },
    ],
    [
      "believes the code of the answer rather than one in it",
      503,
      undefined,
      status({ reason: "ServiceUnavailable", message: "later", code: 200 }),
      { code: "Unavailable", reason: "ServiceUnavailable" },
    ],
    [
      "keeps the pause a Status asks for",
      429,
      "9",
      status({ reason: "TooManyRequests", details: { retryAfterSeconds: 2 } }),
      { code: "TooManyRequests", retryAfterMs: 2_000 },
    ],
    [
      "uses the header's pause when the response is not a Status",
      429,
      "7",
      "slow down",
      {
        code: "TooManyRequests",
        reason: "TooManyRequests",
        retryAfterMs: 7_000,
        message: "GET h/p: the server answered 429: slow down",
      },
    ],
    [
      "does not read dates as pauses",
      503,
      "Wed, 21 Oct 2015 07:28:00 GMT",
      "",
      { code: "Unavailable", reason: "ServiceUnavailable", message: "GET h/p: the server answered 503" },
    ],
    [
      "quotes the start of a proxy's page in one line",
      502,
      undefined,
      `<html>\n  <h1>Bad\tGateway</h1>${"x".repeat(1000)}`,
      {
        code: "Unknown",
        reason: "Unknown",
        message: `GET h/p: the server answered 502: <html> <h1>Bad Gateway</h1>${"x".repeat(173)}`,
      },
    ],
    ["knows a missing path", 404, undefined, "404 page not found\n", { code: "NotFound", reason: "NotFound" }],
    [
      "handles JSON that is not a Status",
      403,
      undefined,
      '{"error":"no"}',
      { code: "PermissionDenied", reason: "Forbidden" },
    ],
  ])("%s", (_rule, code, retryAfter, body, expected) => {
    expect(answerError({ status: code, retryAfter, body }, "GET h/p")).toMatchObject(expected);
  });

  it("requests no pause when the server requests none", () => {
    expect(answerError({ status: 500, retryAfter: undefined, body: "" }, "GET h/p").retryAfterMs).toBeUndefined();
  });
});

it.each([
  [400, "BadRequest"],
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [404, "NotFound"],
  [405, "MethodNotAllowed"],
  [406, "NotAcceptable"],
  [409, "Conflict"],
  [410, "Gone"],
  [413, "RequestEntityTooLarge"],
  [415, "UnsupportedMediaType"],
  [422, "Invalid"],
  [429, "TooManyRequests"],
  [500, "InternalError"],
  [503, "ServiceUnavailable"],
  [504, "Timeout"],
  [418, "Unknown"],
])("a refusal %i without a Status has the reason %s", (status, reason) => {
  const { cause, ...error } = answerError({ status, body: "", retryAfter: undefined }, "GET h/p");
  expect([error.reason, error.message]).toEqual([reason, `GET h/p: the server answered ${status}`]);
  expect(cause).toMatchObject({ kind: "Status", apiVersion: "v1", status: "Failure", code: status });
});
