import { describe, expect, it } from "vitest";
import type { ExecPlugin } from "../../../../src/core/api/clientConfig.ts";
import { execInfo, readExecCredential } from "../../../../src/core/api/execCredential.ts";

const plugin: ExecPlugin = {
  apiVersion: "client.authentication.k8s.io/v1",
  command: "login",
  args: [],
  env: {},
  installHint: "",
  cluster: undefined,
};
const printed = (status: unknown, more: object = {}) =>
  JSON.stringify({ apiVersion: plugin.apiVersion, kind: "ExecCredential", status, ...more });

describe("execInfo", () => {
  it("passes the cluster to a plugin only when configured", () => {
    const spec = (info: string): unknown => (JSON.parse(info) as { readonly spec: unknown }).spec;
    expect([spec(execInfo(plugin)), spec(execInfo({ ...plugin, cluster: { server: "https://x" } }))]).toEqual([
      { interactive: false },
      { interactive: false, cluster: { server: "https://x" } },
    ]);
  });
});

describe("readExecCredential", () => {
  it("reads token, certificate and expiration", () => {
    const status = {
      token: "t",
      clientCertificateData: "c",
      clientKeyData: "k",
      expirationTimestamp: "2026-01-01T00:00:00Z",
    };
    expect(readExecCredential(plugin, printed(status))).toEqual({
      ok: true,
      value: { token: "t", identity: { certificate: "c", key: "k" }, expiresAt: 1_767_225_600_000 },
    });
  });

  it.each([
    ["no JSON", "hello", "its output is not a JSON object"],
    ["another kind", printed({}, { kind: "Pod" }), "it printed a Pod, not an ExecCredential"],
    [
      "another version",
      printed({}, { apiVersion: "client.authentication.k8s.io/v1beta1" }),
      "it is configured to use API version client.authentication.k8s.io/v1, and returned version client.authentication.k8s.io/v1beta1",
    ],
    ["no status", printed(undefined), "it did not return a status field"],
    ["nothing", printed({}), "it did not return a token or cert/key pair"],
    ["half a pair", printed({ clientKeyData: "k" }), "it returned only certificate or key, not both"],
    ["no time", printed({ token: "t", expirationTimestamp: "soon" }), 'its expirationTimestamp "soon" is not a time'],
  ])("rejects %s", (_what, text, why) => {
    expect(readExecCredential(plugin, text)).toMatchObject({
      ok: false,
      error: { code: "PermissionDenied", message: `exec plugin login: ${why}` },
    });
  });
});
