import { describe, expect, it } from "vitest";
import { parseApiPath } from "../../../../src/core/apiObjects/apiPath.ts";

const pods = { resource: "pods", namespace: undefined, name: undefined, subresource: undefined };

describe("parseApiPath", () => {
  it.each([
    ["/api/v1/pods", pods],
    ["/api/v1/namespaces/demo/pods", { ...pods, namespace: "demo" }],
    ["/api/v1/namespaces/demo/pods/web", { ...pods, namespace: "demo", name: "web" }],
    ["/api/v1/namespaces/demo/pods/web/log", { ...pods, namespace: "demo", name: "web", subresource: "log" }],
    ["/api/v1/namespaces/demo", { ...pods, resource: "namespaces", name: "demo" }],
    ["/apis/storage.k8s.io/v1/csidrivers/a%2Eb", { ...pods, resource: "csidrivers", name: "a.b" }],
  ])("parses %s", (path, expected) => {
    expect(parseApiPath(path)).toEqual(expected);
  });

  it.each([
    "/api/v1/",
    "/api/v2/pods",
    "/api/v1/things",
    "/api/v1/pods/web",
    "/api/v1/namespaces/demo/nodes/one",
    "/api/v1/namespaces/demo/pods/web/log/more",
    "/api/v1/namespaces/%zz/pods",
    "/apis/apps/v1/deployments",
    "/metrics",
  ])("returns undefined for %s", (path) => {
    expect(parseApiPath(path)).toBeUndefined();
  });
});
