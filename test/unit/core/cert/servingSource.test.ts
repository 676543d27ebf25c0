import { describe, expect, it } from "vitest";
import { servingSource } from "../../../../src/core/cert/servingSource.ts";

const source = (serverTLSBootstrap: boolean, tlsCertFile: string, tlsPrivateKeyFile: string) => {
  const found = servingSource({ serverTLSBootstrap, tlsCertFile, tlsPrivateKeyFile }, "/pki");
  return found.ok ? found.value : found.error.message;
};
const paths = { certificate: "/a.crt", key: "/a.key" };

describe("servingSource", () => {
  it.each([
    [
      source(false, "", ""),
      { kind: "selfSigned", paths: { certificate: "/pki/kubelet.crt", key: "/pki/kubelet.key" } },
    ],
    [source(false, "/a.crt", "/a.key"), { kind: "files", paths }],
    [source(true, "", ""), { kind: "signed", until: undefined }],
    [source(true, "/a.crt", "/a.key"), { kind: "signed", until: paths }],
    [source(false, "/a.crt", ""), "tlsCertFile is given without tlsPrivateKeyFile: they must be supplied as a pair"],
    [source(true, "", "/a.key"), "tlsPrivateKeyFile is given without tlsCertFile: they must be supplied as a pair"],
  ])("prefers the control plane, then files: %#", (found, expected) => {
    expect(found).toEqual(expected);
  });
});
