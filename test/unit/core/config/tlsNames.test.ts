import { createSecureContext, getCiphers } from "node:tls";
import { describe, expect, it } from "vitest";
import {
  opensslCiphers,
  opensslGroups,
  opensslVersion,
  TLS_CIPHER_SUITES,
  TLS_VERSIONS,
} from "../../../../src/core/config/tlsNames.ts";

const TLS13 = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

it("the cipher suites are those of upstream", () => {
  const both = ["ECDSA", "RSA"].flatMap((key) =>
    [
      "AES_128_CBC_SHA",
      "AES_128_CBC_SHA256",
      "AES_128_GCM_SHA256",
      "AES_256_CBC_SHA",
      "AES_256_GCM_SHA384",
      "CHACHA20_POLY1305",
      "CHACHA20_POLY1305_SHA256",
      "RC4_128_SHA",
    ].map((suite) => `TLS_ECDHE_${key}_WITH_${suite}`),
  );
  const others = [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_RSA_WITH_RC4_128_SHA",
  ];
  expect([...TLS_CIPHER_SUITES].sort()).toEqual([...both, ...others].sort());
});

it.each([
  ["VersionTLS10", "TLSv1"],
  ["VersionTLS11", "TLSv1.1"],
  ["VersionTLS12", "TLSv1.2"],
  ["VersionTLS13", "TLSv1.3"],
  ["", "TLSv1.2"],
])("the version %j is %s in OpenSSL's notation", (name, version) => {
  expect(opensslVersion(name)).toBe(version);
  expect(TLS_VERSIONS.includes(name)).toBe(name !== "");
});

describe("TLS names in OpenSSL's notation", () => {
  it.each([
    ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", ":ECDHE-RSA-AES128-GCM-SHA256"],
    ["TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", ":ECDHE-ECDSA-AES256-SHA"],
    ["TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", ":ECDHE-RSA-AES128-SHA256"],
    ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", ":ECDHE-RSA-CHACHA20-POLY1305"],
    ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", ":ECDHE-RSA-CHACHA20-POLY1305"],
    ["TLS_RSA_WITH_AES_256_GCM_SHA384", ":AES256-GCM-SHA384"],
    ["TLS_AES_128_GCM_SHA256", ""],
    ["TLS_RSA_WITH_RC4_128_SHA", ""],
    ["TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", ""],
  ])("%s", (suite, added) => {
    expect(opensslCiphers([suite], getCiphers())).toBe(`${TLS13}${added}`);
  });

  it("are accepted together, also when empty", () => {
    const known = getCiphers();
    for (const suites of [TLS_CIPHER_SUITES, ["TLS_RSA_WITH_RC4_128_SHA"], []]) {
      expect(() => createSecureContext({ ciphers: opensslCiphers(suites, known) })).not.toThrow();
    }
    for (const version of ["", ...TLS_VERSIONS]) {
      expect(() => createSecureContext({ minVersion: opensslVersion(version) })).not.toThrow();
    }
  });

  it("convert key exchange groups", () => {
    expect([opensslGroups([29, 25, 24, 23, 4588, 9999]), opensslGroups([]), opensslGroups([9999])]).toEqual([
      "X25519:P-521:P-384:P-256:X25519MLKEM768",
      "auto",
      "auto",
    ]);
    expect(() => createSecureContext({ ecdhCurve: opensslGroups([29, 23, 24, 25, 4588]) })).not.toThrow();
  });
});
