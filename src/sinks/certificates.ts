/** The Certificates port on Node's crypto, and on @peculiar/x509 for creating certificates. Keeps no state. */
import { createHash, createPrivateKey, webcrypto, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
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
import { createAuthority } from "./certificateAuthority.ts";
import { alternativeNames, cryptoKeys, keyText, loadX509, newPrivateKey, SIGNATURE } from "./keyPairs.ts";

const spki = (key: webcrypto.CryptoKey) => webcrypto.subtle.exportKey("spki", key);

const unusable = (what: string, thrown: unknown): KubeletError =>
  kubeletError("InvalidArgument", `${what} cannot be used: ${thrown instanceof Error ? thrown.message : "?"}`);

/** Reports an unusable certificate or key as a KubeletError, because it is bad input and not a bug. */
function checked<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw unusable(what, thrown);
  }
}

async function request(pem: string, template: CertificateTemplate, use: CertificateUse): Promise<PreparedRequest> {
  const keys = await cryptoKeys(checked("the private key", () => createPrivateKey(pem))).catch((thrown: unknown) => {
    throw unusable("the private key", thrown);
  });
  const { Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } = await loadX509();
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

/** Returns the names of one kind. Node quotes a name that could be mistaken for two; such a name matches no host. */
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
  const seconds = Math.floor(clock.wallTime() / 1000);
  const authority = await createAuthority(`${host}-ca@${seconds}`, clock);
  const leaf = await authority.issue({ commonName: `${host}@${seconds}`, use: "server", hosts: [host] });
  return { certificate: `${leaf.certificate}${authority.certificate}`, key: leaf.key };
}

/** Creates the port. `clock` dates the certificates it creates. */
export const createCertificates = (clock: Clock): Certificates => ({
  newKey: () => fromCall(async () => keyText(await newPrivateKey())),
  request: (key, template, use) => fromCall(() => request(key, template, use)),
  read: (identity) => fromCall(async () => read(identity)),
  selfSigned: (host) => fromCall(() => selfSigned(host, clock)),
});
