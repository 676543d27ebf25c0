/**
 * The Certificates port on Node's crypto, and on @peculiar/x509 for what is made, which is loaded when it is needed:
 * a node that makes no keys does without its 20 MB. Keeps nothing.
 */
import { createHash, createPrivateKey, generateKeyPair, type KeyObject, webcrypto, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { createSecureContext } from "node:tls";
import { promisify } from "node:util";
import type { TlsIdentity } from "../core/api/clientConfig.ts";
import type { CertificateFacts } from "../core/cert/certificateFacts.ts";
import type { CertificateTemplate } from "../core/cert/certificateTemplate.ts";
import { type CertificateUse, digestedRequestName, requestDigestText } from "../core/cert/signingRequest.ts";
import { type KubeletError, kubeletError } from "../core/errors.ts";
import { epochMs } from "../core/ids.ts";
import { canonicalIp } from "../core/node/ipAddress.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Certificates, PreparedRequest } from "../ports/certificates.ts";
import type { Clock } from "../ports/clock.ts";

const CURVE = { name: "ECDSA", namedCurve: "P-256" } as const;
const SIGNATURE = { name: "ECDSA", hash: "SHA-256" } as const;
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

const makeKeys = promisify(generateKeyPair);

/** The library's form of an instant. */
// eslint-disable-next-line no-restricted-globals -- a date made of a given instant, not the time it is
const instant = (at: number) => new Date(at);

const load = async () => {
  await import("reflect-metadata");
  return import("@peculiar/x509");
};

const unusable = (what: string, thrown: unknown): KubeletError =>
  kubeletError("InvalidArgument", `${what} cannot be used: ${thrown instanceof Error ? thrown.message : "?"}`);

/** A certificate or key of no use is an error of its own, not a bug. */
function checked<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw unusable(what, thrown);
  }
}

async function newPrivateKey(): Promise<KeyObject> {
  const { privateKey } = await makeKeys("ec", CURVE);
  return privateKey;
}

const keyText = (key: KeyObject): string => String(key.export({ type: "sec1", format: "pem" }));

const spki = (key: webcrypto.CryptoKey) => webcrypto.subtle.exportKey("spki", key);

/** Both halves as the library takes them. */
async function cryptoKeys(privateKey: KeyObject): Promise<webcrypto.CryptoKeyPair> {
  const pkcs8 = privateKey.export({ type: "pkcs8", format: "der" });
  const { d: _private, ...jwk } = privateKey.export({ format: "jwk" });
  return {
    privateKey: await webcrypto.subtle.importKey("pkcs8", pkcs8, CURVE, false, ["sign"]),
    publicKey: await webcrypto.subtle.importKey("jwk", jwk, CURVE, true, ["verify"]),
  };
}

const alternativeNames = ({ dnsNames, ipAddresses }: Pick<CertificateTemplate, "dnsNames" | "ipAddresses">) => [
  ...dnsNames.map((value) => ({ type: "dns", value }) as const),
  ...ipAddresses.map((value) => ({ type: "ip", value }) as const),
];

async function request(pem: string, template: CertificateTemplate, use: CertificateUse): Promise<PreparedRequest> {
  const keys = await cryptoKeys(checked("the private key", () => createPrivateKey(pem))).catch((thrown: unknown) => {
    throw unusable("the private key", thrown);
  });
  const { Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } = await load();
  const names = alternativeNames(template);
  const made = await Pkcs10CertificateRequestGenerator.create({
    name: [{ O: [template.organization] }, { CN: [template.commonName] }],
    keys,
    signingAlgorithm: SIGNATURE,
    extensions: names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names)],
  });
  const text = requestDigestText(new Uint8Array(await spki(keys.publicKey)), template, use);
  const digest = createHash("sha512-256").update(text).digest();
  return { pem: `${made.toString("pem")}\n`, name: digestedRequestName(digest) };
}

const several = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : [value].flat();

/** The names of one kind; what could be mistaken for two of them is quoted by Node and names no host. */
const named = (names: string | undefined, kind: string): readonly string[] =>
  (names ?? "").split(", ").flatMap((name) => (name.startsWith(`${kind}:`) ? [name.slice(kind.length + 1)] : []));

function read({ certificate, key }: TlsIdentity): CertificateFacts {
  const leaf = checked("the certificate", () => new X509Certificate(certificate));
  checked("the certificate", () => createSecureContext({ cert: certificate, key }));
  const subject = leaf.toLegacyObject().subject as Readonly<Record<string, string | readonly string[]>>;
  return {
    notBefore: epochMs(leaf.validFromDate.getTime()),
    notAfter: epochMs(leaf.validToDate.getTime()),
    commonName: several(subject["CN"])[0] ?? "",
    organizations: several(subject["O"]),
    dnsNames: named(leaf.subjectAltName, "DNS"),
    ipAddresses: named(leaf.subjectAltName, "IP Address").map(canonicalIp),
  };
}

async function selfSigned(host: string, clock: Clock): Promise<TlsIdentity> {
  const x509 = await load();
  const [now, serverKey] = [clock.wallTime(), await newPrivateKey()];
  const [authority, server] = [await cryptoKeys(await newPrivateKey()), await cryptoKeys(serverKey)];
  // An hour back, for clients whose clock is a little slow.
  const common = {
    notBefore: instant(now - HOUR_MS),
    notAfter: instant(now - HOUR_MS + YEAR_MS),
    signingAlgorithm: SIGNATURE,
  };
  const seconds = Math.floor(now / 1000);
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...common,
    name: [{ CN: [`${host}-ca@${seconds}`] }],
    keys: authority,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment | x509.KeyUsageFlags.keyCertSign,
        true,
      ),
    ],
  });
  const names = isIP(host) === 0 ? { dnsNames: [host], ipAddresses: [] } : { dnsNames: [], ipAddresses: [host] };
  const leaf = await x509.X509CertificateGenerator.create({
    ...common,
    subject: [{ CN: [`${host}@${seconds}`] }],
    issuer: root.subject,
    publicKey: server.publicKey,
    signingKey: authority.privateKey,
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.SubjectAlternativeNameExtension(alternativeNames(names)),
    ],
  });
  return { certificate: `${leaf.toString("pem")}\n${root.toString("pem")}\n`, key: keyText(serverKey) };
}

/** Makes the port. `clock` dates the certificates that are made. */
export const createCertificates = (clock: Clock): Certificates => ({
  newKey: () => fromCall(async () => keyText(await newPrivateKey())),
  request: (key, template, use) => fromCall(() => request(key, template, use)),
  read: (identity) => fromCall(async () => read(identity)),
  selfSigned: (host) => fromCall(() => selfSigned(host, clock)),
});
