/** A certificate authority in memory: its key is never stored and is lost when the process ends. */
import { isIP } from "node:net";
import type { TlsIdentity } from "../core/api/clientConfig.ts";
import type { Clock } from "../ports/clock.ts";
import { alternativeNames, cryptoKeys, keyText, loadX509, newPrivateKey, SIGNATURE } from "./keyPairs.ts";

/** The subject of a certificate and its usages. */
export interface IssuedFor {
  readonly commonName: string;
  readonly organization?: string;
  readonly use: "server" | "client";
  /** DNS names and IP addresses of a server. */
  readonly hosts?: readonly string[];
}

export interface CertificateAuthority {
  /** The certificate of the authority itself, as PEM. */
  readonly certificate: string;
  /** Issues a certificate for a new key, without the chain. */
  issue(subject: IssuedFor): Promise<TlsIdentity>;
}

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** Converts an instant to the library's form. */
// eslint-disable-next-line no-restricted-globals -- a date made of a given instant, not the time it is
const instant = (at: number) => new Date(at);

/** Creates an authority. Its certificates are valid for a year. */
export async function createAuthority(name: string, clock: Pick<Clock, "wallTime">): Promise<CertificateAuthority> {
  const x509 = await loadX509();
  const [now, keys] = [clock.wallTime(), await cryptoKeys(await newPrivateKey())];
  // Certificates are valid from one hour ago, for clients whose clock is slow.
  const common = {
    notBefore: instant(now - HOUR_MS),
    notAfter: instant(now - HOUR_MS + YEAR_MS),
    signingAlgorithm: SIGNATURE,
  };
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...common,
    name: [{ CN: [name] }],
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment | x509.KeyUsageFlags.keyCertSign,
        true,
      ),
    ],
  });
  return {
    certificate: `${root.toString("pem")}\n`,
    issue: async ({ commonName, organization, use, hosts = [] }) => {
      const key = await newPrivateKey();
      const isAddress = (host: string): boolean => isIP(host) !== 0;
      const names = {
        dnsNames: hosts.filter((host) => !isAddress(host)),
        ipAddresses: hosts.filter(isAddress),
      };
      const leaf = await x509.X509CertificateGenerator.create({
        ...common,
        subject: [...(organization === undefined ? [] : [{ O: [organization] }]), { CN: [commonName] }],
        issuer: root.subject,
        publicKey: (await cryptoKeys(key)).publicKey,
        signingKey: keys.privateKey,
        extensions: [
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[use === "server" ? "serverAuth" : "clientAuth"]]),
          new x509.BasicConstraintsExtension(false, undefined, true),
          ...(hosts.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(alternativeNames(names))]),
        ],
      });
      return { certificate: `${leaf.toString("pem")}\n`, key: keyText(key) };
    },
  };
}
