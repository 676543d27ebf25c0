/** A certificate authority for tests, made at run time: it serves one test server and its clients. */
import "reflect-metadata";
import { randomBytes, webcrypto } from "node:crypto";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  Pkcs10CertificateRequest,
  type X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
/** OID of the names beside the subject. */
export const SUBJECT_ALT_NAME = "2.5.29.17";
const DAY_MS = 86_400_000;

/** A certificate with its private key, as PEM. */
export interface PemIdentity {
  readonly certificate: string;
  readonly key: string;
}

/** Subject of a client certificate. */
export interface ClientSubject {
  /** User. */
  readonly commonName: string;
  /** Group. */
  readonly organization?: string;
}

/** An authority of one test. */
export interface TestAuthority {
  /** Certificate that clients and servers trust, as PEM. */
  readonly certificate: string;
  /** Certificate for a server on loopback. */
  server(): Promise<PemIdentity>;
  /** Good for a day, or until `lifeMs` from now. */
  client(subject: ClientSubject, lifeMs?: number): Promise<PemIdentity>;
  /** Signs a request (PKCS #10, PEM) as it is: subject and names are the requester's. Rejects when its signature is bad. */
  sign(request: string, usage: "client" | "server", lifeMs: number): Promise<string>;
}

interface Issuer {
  readonly certificate: X509Certificate;
  readonly keys: webcrypto.CryptoKeyPair;
}

const newKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);

const validity = (lifeMs = DAY_MS) => ({
  serialNumber: `01${randomBytes(8).toString("hex")}`,
  notBefore: new Date(Date.now() - DAY_MS),
  notAfter: new Date(Date.now() + lifeMs),
});

async function pemKey({ privateKey }: webcrypto.CryptoKeyPair): Promise<string> {
  const bytes = await webcrypto.subtle.exportKey("pkcs8", privateKey);
  const lines = Buffer.from(bytes).toString("base64").replace(/.{64}/g, "$&\n");
  return `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`;
}

async function issue(
  { certificate: issuer, keys: issuerKeys }: Issuer,
  subject: Readonly<Record<string, readonly string[]>>,
  usage: ExtendedKeyUsage,
  names: ConstructorParameters<typeof SubjectAlternativeNameExtension>[0] = [],
  lifeMs = DAY_MS,
): Promise<PemIdentity> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.create({
    ...validity(lifeMs),
    subject: [Object.fromEntries(Object.entries(subject).map(([field, values]) => [field, [...values]]))],
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey: issuerKeys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([usage]),
      ...(Array.isArray(names) && names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names)]),
    ],
  });
  return { certificate: certificate.toString("pem"), key: await pemKey(keys) };
}

async function sign(
  { certificate: issuer, keys }: Issuer,
  pem: string,
  usage: ExtendedKeyUsage,
  lifeMs: number,
): Promise<string> {
  const request = new Pkcs10CertificateRequest(pem);
  if (!(await request.verify())) throw new Error("the request is not signed with its own key");
  const names = request.getExtension(SUBJECT_ALT_NAME);
  const certificate = await X509CertificateGenerator.create({
    ...validity(lifeMs),
    notBefore: new Date(),
    subject: request.subjectName,
    issuer: issuer.subject,
    publicKey: request.publicKey,
    signingKey: keys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([usage]),
      ...(names === null ? [] : [names]),
    ],
  });
  return certificate.toString("pem");
}

/** Makes an authority. */
export async function createTestAuthority(): Promise<TestAuthority> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...validity(),
    name: "CN=rxlet test authority",
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, 1, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  const issuer: Issuer = { certificate, keys };
  const loopback = [
    { type: "ip", value: "127.0.0.1" },
    { type: "dns", value: "localhost" },
    { type: "dns", value: "kubernetes.default.svc" },
  ] as const;
  return {
    certificate: certificate.toString("pem"),
    server: () => issue(issuer, { CN: ["kube-apiserver"] }, ExtendedKeyUsage.serverAuth, [...loopback]),
    sign: (request, usage, lifeMs) =>
      sign(issuer, request, usage === "client" ? ExtendedKeyUsage.clientAuth : ExtendedKeyUsage.serverAuth, lifeMs),
    client: ({ commonName, organization }, lifeMs) =>
      issue(
        issuer,
        { CN: [commonName], ...(organization === undefined ? {} : { O: [organization] }) },
        ExtendedKeyUsage.clientAuth,
        [],
        lifeMs,
      ),
  };
}
