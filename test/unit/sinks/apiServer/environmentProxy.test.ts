import { describe, expect, it } from "vitest";
import { environmentProxy } from "../../../../src/sinks/apiServer/environmentProxy.ts";

const PROXY = "http://proxy:3128";

describe("environmentProxy", () => {
  it.each<[string, string, Readonly<Record<string, string>>, string | undefined]>([
    ["none", "https://10.0.0.1:6443", {}, undefined],
    ["that of the scheme", "https://10.0.0.1:6443", { HTTPS_PROXY: PROXY, HTTP_PROXY: "http://other" }, PROXY],
    ["that in small letters", "http://10.0.0.1", { http_proxy: PROXY }, PROXY],
    ["one without a scheme as of HTTP", "https://10.0.0.1", { HTTPS_PROXY: "proxy:3128" }, PROXY],
    ["none to this machine", "https://127.0.0.1:6443", { HTTPS_PROXY: PROXY }, undefined],
    ["none to this machine by IPv6", "https://[::1]:6443", { HTTPS_PROXY: PROXY }, undefined],
  ])("finds %s", (_what, server, env, expected) => {
    expect(environmentProxy(server, env)).toBe(expected);
  });

  it.each([
    ["*", "https://10.0.0.1", true],
    ["10.0.0.0/8", "https://10.0.0.1:6443", true],
    ["10.0.0.0/8", "https://11.0.0.1:6443", false],
    ["10.0.0.0/99", "https://10.0.0.1:6443", false],
    ["fd00::/8", "https://[fd00::1]:6443", true],
    ["10.0.0.1", "https://10.0.0.1:6443", true],
    ["fd00::1", "https://[fd00::1]:6443", true],
    ["10.0.0.1:6443", "https://10.0.0.1:6443", true],
    ["10.0.0.1:443", "https://10.0.0.1:6443", false],
    ["example.com", "https://api.example.com", true],
    ["example.com", "https://example.com", true],
    ["example.com", "https://notexample.com", false],
    [".example.com", "https://api.example.com", true],
    [".example.com", "https://example.com", false],
    ["localhost, Example.com ", "https://API.example.com", true],
  ])("with NO_PROXY %s goes to %s directly: %s", (exceptions, server, direct) => {
    expect(environmentProxy(server, { HTTPS_PROXY: PROXY, NO_PROXY: exceptions })).toBe(direct ? undefined : PROXY);
  });
});
