import { describe, expect, it } from "vitest";
import { httpTarget, joinHostPort, resolvePort } from "../../../../src/core/probe/probeTarget.ts";

const CONTAINER = { ports: [{ name: "http", containerPort: 8080 }, { containerPort: 9090 }] };

describe("resolvePort", () => {
  it.each([
    [80, 80],
    ["http", 8080],
    ["8081", 8081],
  ])("%s is %d", (reference, port) => {
    expect(resolvePort(reference, CONTAINER)).toEqual({ ok: true, value: port });
  });

  it.each([
    [0, "invalid port number: 0"],
    [65_536, "invalid port number: 65536"],
    ["-1", "invalid port number: -1"],
    ["grpc", 'strconv.Atoi: parsing "grpc": invalid syntax'],
  ])("rejects %s: %s", (reference, message) => {
    const resolved = resolvePort(reference, CONTAINER);
    expect(resolved.ok ? resolved.value : resolved.error).toEqual({
      code: "InvalidArgument",
      reason: "InvalidArgument",
      message,
      retryable: false,
    });
  });
});

describe("httpTarget", () => {
  const of = (action: Parameters<typeof httpTarget>[0]) => {
    const target = httpTarget(action, CONTAINER, "10.1.0.2", "kube-probe/1.36");
    return target.ok ? target.value : target.error;
  };

  it("defaults to the pod's address, plain HTTP, the prober's User-Agent and any media type", () => {
    expect(of({ port: "http", path: "/healthz?full=1" })).toEqual({
      scheme: "http",
      host: "10.1.0.2",
      port: 8080,
      path: "/healthz?full=1",
      headers: [
        ["User-Agent", "kube-probe/1.36"],
        ["Accept", "*/*"],
      ],
    });
  });

  it("uses scheme, host and headers of the spec, including repeated names", () => {
    const httpHeaders = [
      { name: "X-Test", value: "a" },
      { name: "x-test", value: "b" },
      { name: "user-agent", value: "mine" },
      { name: "ACCEPT", value: "text/plain" },
    ];
    expect(of({ scheme: "HTTPS", host: "app.example", port: 443, path: "/", httpHeaders })).toEqual({
      scheme: "https",
      host: "app.example",
      port: 443,
      path: "/",
      headers: [
        ["X-Test", "a"],
        ["x-test", "b"],
        ["user-agent", "mine"],
        ["ACCEPT", "text/plain"],
      ],
    });
  });

  it("sends no Accept header when the manifest has an empty one", () => {
    const target = of({ port: 80, path: "/", httpHeaders: [{ name: "Accept", value: "" }] });
    expect("headers" in target ? target.headers : target).toEqual([["User-Agent", "kube-probe/1.36"]]);
  });

  it.each([
    ["", "/"],
    ["healthz", "/healthz"],
    ["/a b?q=ü#top", "/a%20b?q=%C3%BC"],
    ["http://elsewhere.example/x?y", "/x?y"],
    ["//elsewhere.example/x", "/x"],
    ["/already%20escaped", "/already%20escaped"],
    ["/\ud800", "/%EF%BF%BD"],
  ])("requests %j as %s", (path, expected) => {
    const target = of({ port: 80, path });
    expect("path" in target ? target.path : target).toBe(expected);
  });
});

describe("joinHostPort", () => {
  it("puts brackets around IPv6", () => {
    expect([joinHostPort("10.0.0.1", 80), joinHostPort("fd00::1", 80)]).toEqual(["10.0.0.1:80", "[fd00::1]:80"]);
  });
});
