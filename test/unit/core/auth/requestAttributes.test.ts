import { describe, expect, it } from "vitest";
import { forbiddenText, requestAttributes } from "../../../../src/core/auth/requestAttributes.ts";

const OURS = { fineGrained: true, streamsNeedCreate: true };
const UPSTREAM = { fineGrained: true, streamsNeedCreate: false };
const COARSE = { fineGrained: false, streamsNeedCreate: true };
const of = (method: string, path: string, rules = OURS): string => {
  const { verb, subresources } = requestAttributes({ method, path }, rules);
  return `${verb} ${subresources.join(",")}`;
};

describe("permission of a request", () => {
  it.each([
    ["/pods", "pods,proxy"],
    ["/pods/", "pods,proxy"],
    ["/podsx", "proxy"],
    ["/runningpods", "pods,proxy"],
    ["/runningpods/", "pods,proxy"],
    ["/healthz", "healthz,proxy"],
    ["/healthz/syncloop", "healthz,proxy"],
    ["/configz", "configz,proxy"],
    ["/flagz", "configz"],
    ["/statusz", "statusz"],
    ["/stats/summary", "stats"],
    ["/stats", "stats"],
    ["/metrics", "metrics"],
    ["/metrics/cadvisor", "metrics"],
    ["/metricsx", "proxy"],
    ["/logs/", "log"],
    ["/logs/syslog", "log"],
    ["/checkpoint/ns/p/c", "checkpoint"],
    ["/containerLogs/ns/p/c", "proxy"],
    ["/debug/pprof/heap", "proxy"],
    ["/debug/rxlet/pods/ns/p/timeline", "proxy"],
    ["/", "proxy"],
    ["//pods", "proxy"],
    ["/PODS", "proxy"],
  ])("GET %s: %s", (path, subresources) => {
    expect(of("GET", path)).toBe(`get ${subresources}`);
  });

  it.each([
    ["POST", "create"],
    ["GET", "get"],
    ["PUT", "update"],
    ["PATCH", "patch"],
    ["DELETE", "delete"],
    ["HEAD", ""],
    ["OPTIONS", ""],
    ["get", ""],
  ])("%s is the verb %j", (method, verb) => {
    expect(of(method, "/metrics")).toBe(`${verb} metrics`);
  });

  it.each(["/exec/ns/p/c", "/exec/ns/p/u/c", "/attach/ns/p/c", "/portForward/ns/p", "/run/ns/p/c"])(
    "%s needs create whatever its method, and upstream's verb by the flag",
    (path) => {
      expect([of("GET", path), of("POST", path), of("HEAD", path), of("GET", path, UPSTREAM)]).toEqual([
        "create proxy",
        "create proxy",
        "create proxy",
        "get proxy",
      ]);
    },
  );

  it("uses only the coarse subresources without the gate", () => {
    expect(["/pods", "/healthz", "/configz", "/metrics"].map((path) => of("GET", path, COARSE))).toEqual([
      "get proxy",
      "get proxy",
      "get proxy",
      "get metrics",
    ]);
  });

  it("has upstream's text when it is denied", () => {
    expect(forbiddenText("jane", requestAttributes({ method: "GET", path: "/pods" }, OURS))).toBe(
      "Forbidden (user=jane, verb=get, resource=nodes, subresource(s)=[pods proxy])\n",
    );
  });
});
