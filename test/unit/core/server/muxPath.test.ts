/** Paths as a request multiplexer sees them. */
import { describe, expect, it } from "vitest";
import { takes } from "../../../../src/core/server/accept.ts";
import { httpDate } from "../../../../src/core/server/httpDate.ts";
import { movedTo, notFoundText } from "../../../../src/core/server/muxPath.ts";
import { epochMs } from "../../../../src/core/ids.ts";

describe("a path", () => {
  it.each([
    ["/", undefined],
    ["/pods", undefined],
    ["/pods/", undefined],
    ["/pods?a=/../b", undefined],
    ["/logs/a%2eb/%2e%2ec", undefined],
    ["/exec/%2e%2e/logs/x?a=%2e%2e", "/logs/x?a=%2e%2e"],
    ["/exec/.%2E/%2e/logs/x", "/logs/x"],
    ["//pods", "/pods"],
    ["/./pods?a=b", "/pods?a=b"],
    ["/logs/../etc/passwd", "/etc/passwd"],
    ["/logs//apt//", "/logs/apt/"],
    ["/../..", "/"],
    ["/stats", "/stats/"],
    ["/runningpods?x", "/runningpods/?x"],
    ["/debug/pprof", "/debug/pprof/"],
    ["/logs", "/logs/"],
    ["/exec", undefined],
    ["?a=/b", undefined],
    ["http://other/exec", undefined],
    ["http://other/logs?a", "/logs/?a"],
    ["//\u00e9 \n", "/%C3%A9%20%0A"],
  ])("%s is redirected to %s", (path, target) => {
    expect(movedTo(path)).toBe(target);
  });

  it.each([
    ["/nope", "404 page not found\n"],
    ["/podsx", "404 page not found\n"],
    ["/debug/nope", "404 page not found\n"],
    ["/pods/x", "404: Page Not Found"],
    ["/exec", "404: Page Not Found"],
    ["/debug/pprof/", "404: Page Not Found"],
  ])("%s is not found", (path, text) => {
    expect(notFoundText(path)).toBe(text);
  });
});

it.each([
  [undefined, true],
  ["", true],
  ["*/*", true],
  ["application/json", true],
  ["text/html, application/json;q=0.1", true],
  ["text/html;q=0.9,,", true],
  ["application/*", false],
  ["text/html", false],
])("Accept %j allows JSON: %s", (accept, expected) => {
  expect(takes(accept, "application/json")).toBe(expected);
});

it.each([
  ["2026-11-22T08:11:25.9Z", "Sun, 22 Nov 2026 08:11:25 GMT"],
  ["1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT"],
  ["2024-02-29T23:59:59Z", "Thu, 29 Feb 2024 23:59:59 GMT"],
])("%s is an HTTP date", (instant, text) => {
  expect(httpDate(epochMs(Date.parse(instant)))).toBe(text);
});
