import { expect, it } from "vitest";
import { accessOf, type DevInstance, devDirectoryName, kubeconfigOf } from "../../../../src/core/dev/devInstance.ts";

const instance: DevInstance = {
  ...{ directory: "/run/dev", pid: 1, manifests: "/src/pods", server: "https://127.0.0.1:4000" },
  startedAt: "2026-01-01T00:00:00Z",
};

it("an instance keeps its files in its directory", () => {
  expect(kubeconfigOf(instance)).toBe("/run/dev/kubeconfig");
  expect(accessOf(instance)).toEqual({
    ...{ certificateAuthority: "/run/dev/ca.crt", insecure: false, clientCertificate: "/run/dev/client.pem" },
    ...{ clientKey: "", tokenFile: "" },
  });
});

it.each([
  ["x".repeat(40), "x".repeat(40)],
  ["x".repeat(41), "x".repeat(40)],
  ["é~a", "__a"],
])("the directory of %j is named %j and a digest", (last, expected) => {
  expect(devDirectoryName(`/src/${last}`, "0123456789")).toBe(`${expected}-01234567`);
});
