import { createPrivateKey, X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { epochMs } from "../../../src/core/ids.ts";
import { createAuthority } from "../../../src/sinks/certificateAuthority.ts";
import { loadX509 } from "../../../src/sinks/keyPairs.ts";

const NOW = epochMs(Date.UTC(2026, 0, 2, 3, 4, 5));
const USE = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2" };

describe("a certificate authority in memory", () => {
  it("signs itself, for a year from one hour ago", async () => {
    const root = new X509Certificate((await createAuthority("rxlet-ca", { wallTime: () => NOW })).certificate);
    expect([root.subject, root.issuer, root.ca, root.verify(root.publicKey)]).toEqual([
      "CN=rxlet-ca",
      "CN=rxlet-ca",
      true,
      true,
    ]);
    expect([root.validFrom, root.validTo]).toEqual(["Jan  2 02:04:05 2026 GMT", "Jan  2 02:04:05 2027 GMT"]);
  });

  it("restricts keys to their purpose: constraints and key usages are critical", async () => {
    const {
      BasicConstraintsExtension,
      KeyUsageFlags,
      KeyUsagesExtension,
      X509Certificate: Certificate,
    } = await loadX509();
    const purposeOf = (pem: string) => {
      const certificate = new Certificate(pem);
      const constraints = certificate.getExtension(BasicConstraintsExtension);
      const usages = certificate.getExtension(KeyUsagesExtension);
      return [constraints?.ca, constraints?.critical, usages?.usages, usages?.critical];
    };
    const authority = await createAuthority("ca", { wallTime: () => NOW });
    const { digitalSignature, keyEncipherment, keyCertSign } = KeyUsageFlags;
    expect(purposeOf(authority.certificate)).toEqual([
      true,
      true,
      digitalSignature | keyEncipherment | keyCertSign,
      true,
    ]);
    const leaf = await authority.issue({ commonName: "node", use: "client" });
    expect(purposeOf(leaf.certificate)).toEqual([false, true, digitalSignature, true]);
  });

  it("issues certificates for servers, by name and address", async () => {
    const authority = await createAuthority("ca", { wallTime: () => NOW });
    const hosts = ["localhost", "127.0.0.1", "::1"];
    const { certificate, key } = await authority.issue({ commonName: "node", use: "server", hosts });
    const leaf = new X509Certificate(certificate);
    expect([leaf.subject, leaf.issuer, leaf.ca, leaf.keyUsage]).toEqual(["CN=node", "CN=ca", false, [USE.server]]);
    expect(leaf.subjectAltName).toBe("DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1");
    expect([leaf.validFrom, leaf.validTo]).toEqual(["Jan  2 02:04:05 2026 GMT", "Jan  2 02:04:05 2027 GMT"]);
    expect(leaf.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true);
    expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(key).toMatch(/^-----BEGIN EC PRIVATE KEY-----\n/);
  });

  it("issues certificates for clients, with their group and without names", async () => {
    const authority = await createAuthority("ca", { wallTime: () => NOW });
    const subject = { commonName: "admin", organization: "system:masters", use: "client" } as const;
    const leaf = new X509Certificate((await authority.issue(subject)).certificate);
    expect([leaf.subject, leaf.keyUsage, leaf.subjectAltName]).toEqual([
      "O=system:masters\nCN=admin",
      [USE.client],
      undefined,
    ]);
  });
});
