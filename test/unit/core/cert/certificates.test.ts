/** The pure rules of certificates: what to ask for, when, and what has become of it. */
import { describe, expect, it } from "vitest";
import type { ClientConfig } from "../../../../src/core/api/clientConfig.ts";
import { bootstrapKubeconfig } from "../../../../src/core/cert/bootstrapKubeconfig.ts";
import { type CertificateFacts, isExpired, ttlSeconds } from "../../../../src/core/cert/certificateFacts.ts";
import { nodeTemplate, shortcoming } from "../../../../src/core/cert/certificateTemplate.ts";
import { currentPairPath, datedPairPath, pairIn, pairText } from "../../../../src/core/cert/pemFile.ts";
import { rotationDeadline } from "../../../../src/core/cert/rotationDeadline.ts";
import { servingTemplate } from "../../../../src/core/cert/servingTemplate.ts";
import {
  CLIENT_USE,
  requestDigestText,
  SERVING_USE,
  signingRequest,
  signingVerdict,
} from "../../../../src/core/cert/signingRequest.ts";
import { epochMs } from "../../../../src/core/ids.ts";

const facts = (given: Partial<CertificateFacts> = {}): CertificateFacts => ({
  notBefore: epochMs(0),
  notAfter: epochMs(10_000),
  commonName: "system:node:n1",
  organizations: ["system:nodes"],
  dnsNames: [],
  ipAddresses: [],
  ...given,
});

describe("validity of a certificate", () => {
  it("ends after its last second", () => {
    expect([9_999, 10_000, 10_001].map((now) => isExpired(facts(), epochMs(now)))).toEqual([false, false, true]);
  });

  it("leads to a renewal between 70 % and 90 % of it", () => {
    const life = { notBefore: epochMs(1_000), notAfter: epochMs(11_000) };
    expect([0, 0.5, 1].map((random) => rotationDeadline(life, random))).toEqual([8_000, 9_000, 10_000]);
  });

  it("is rounded to whole seconds towards zero, and infinite without a certificate", () => {
    expect([ttlSeconds(epochMs(2_900), epochMs(0)), ttlSeconds(epochMs(0), epochMs(2_900))]).toEqual([2, -2]);
    expect(ttlSeconds(undefined, epochMs(0))).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("shortcoming", () => {
  const template = { ...nodeTemplate("n1"), dnsNames: ["b", "a"], ipAddresses: ["10.0.0.1"] };
  const full = facts({ dnsNames: ["a", "b", "more"], ipAddresses: ["10.0.0.1", "10.0.0.2"] });
  it.each([
    [full, undefined],
    [{ ...full, commonName: "x" }, "Current certificate CN (x) does not match requested CN (system:node:n1)"],
    [{ ...full, dnsNames: [] }, "Current certificate is missing requested DNS names [a b]"],
    [{ ...full, ipAddresses: ["::1"] }, "Current certificate is missing requested IP addresses [10.0.0.1]"],
    [{ ...full, organizations: ["others"] }, "Current certificate is missing requested orgs [system:nodes]"],
  ])("names the first missing requirement: %#", (given, expected) => {
    expect(shortcoming(given, template)).toBe(expected);
  });
});

describe("servingTemplate", () => {
  it("contains the node's addresses, each once, sorted; a host name that is an IP address counts as one", () => {
    const addresses = [
      { type: "Hostname", address: "10.0.0.9" },
      { type: "InternalIP", address: "10.0.0.2" },
      { type: "InternalIP", address: "fd00::1" },
      { type: "ExternalIP", address: "10.0.0.2" },
      { type: "InternalDNS", address: "n1.internal" },
      { type: "ExternalDNS", address: "n1.example" },
      { type: "Hostname", address: "n1" },
      { type: "Hostname", address: "" },
    ];
    expect(servingTemplate("n1", addresses, false)).toEqual({
      ...nodeTemplate("n1"),
      dnsNames: ["n1", "n1.example", "n1.internal"],
      ipAddresses: ["10.0.0.2", "10.0.0.9", "fd00::1"],
    });
  });

  it("is undefined without an IP address, unless DNS names suffice", () => {
    const names = [{ type: "Hostname", address: "n1" }];
    expect([
      servingTemplate("n1", [], true),
      servingTemplate("n1", names, false),
      servingTemplate("n1", names, true)?.dnsNames,
    ]).toEqual([undefined, undefined, ["n1"]]);
  });
});

describe("a signing request", () => {
  it("names its signer and usages; without a name the server generates one", () => {
    expect([signingRequest(CLIENT_USE, "PEM", "node-csr-x"), signingRequest(SERVING_USE, "PEM", undefined)]).toEqual([
      {
        metadata: { name: "node-csr-x" },
        spec: {
          request: btoa("PEM"),
          signerName: "kubernetes.io/kube-apiserver-client-kubelet",
          usages: ["digital signature", "client auth"],
        },
      },
      {
        metadata: { generateName: "csr-" },
        spec: {
          request: btoa("PEM"),
          signerName: "kubernetes.io/kubelet-serving",
          usages: ["digital signature", "server auth"],
        },
      },
    ]);
  });

  it("has a digest of key, subject and usages, each ended by a delimiter", () => {
    const text = requestDigestText(new Uint8Array([251, 255]), nodeTemplate("n"), { signerName: "s", usages: ["u"] });
    expect(text).toBe("-_8|c3lzdGVtOm5vZGU6bg|c3lzdGVtOm5vZGVz|dQ|");
  });

  it("is pending until it is approved and has a certificate", () => {
    const of = (status: object) =>
      signingVerdict({ metadata: { uid: "u" }, spec: signingRequest(CLIENT_USE, "", "").spec, status }, "u").kind;
    const conditions = [{ type: "Approved", status: "True" }];
    expect([
      of({}),
      of({ conditions }),
      of({ certificate: btoa("x") }),
      of({ conditions, certificate: btoa("x") }),
    ]).toEqual(["pending", "pending", "pending", "issued"]);
  });
});

describe("PEM files", () => {
  const block = (label: string, body: string) => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;
  const [leaf, root, key] = [
    block("CERTIFICATE", "bGVhZg=="),
    block("CERTIFICATE", "cm9vdA=="),
    block("EC PRIVATE KEY", "a2V5"),
  ];

  it("contain the chain and then the key, without comments", () => {
    const text = pairText({ certificate: `# leaf\n${leaf}\n${root}`, key });
    expect([text, pairIn(text)]).toEqual([`${leaf}${root}${key}`, { certificate: `${leaf}${root}`, key }]);
  });

  it("parse in any order, and require both parts", () => {
    expect([pairIn(`${key}${leaf}`), pairIn(leaf), pairIn(key), pairIn("")]).toEqual([
      { certificate: leaf, key },
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("have upstream's names", () => {
    expect([
      currentPairPath("/pki", "kubelet-client"),
      datedPairPath("/pki", "kubelet-server", epochMs(Date.UTC(2026, 0, 2, 3, 4, 5, 678))),
    ]).toEqual(["/pki/kubelet-client-current.pem", "/pki/kubelet-server-2026-01-02-03-04-05.pem"]);
  });
});

describe("bootstrapKubeconfig", () => {
  const client: ClientConfig = {
    endpoint: {
      server: "https://10.0.0.1:6443",
      certificateAuthority: "CA",
      tlsServerName: undefined,
      insecureSkipTlsVerify: false,
      proxyUrl: undefined,
    },
    authority: { file: "/etc/kubernetes/pki/ca.crt" },
    certificate: undefined,
    identity: undefined,
    proof: { kind: "token", token: "abcdef.0123456789abcdef" },
  };

  it("contains the server, and the certificate's file in place of the token", () => {
    expect(bootstrapKubeconfig(client, "/pki/kubelet-client-current.pem")).toBe(`apiVersion: v1
kind: Config
clusters:
- name: default-cluster
  cluster:
    certificate-authority: "/etc/kubernetes/pki/ca.crt"
    server: "https://10.0.0.1:6443"
contexts:
- name: default-context
  context:
    cluster: default-cluster
    namespace: default
    user: default-auth
current-context: default-context
preferences: {}
users:
- name: default-auth
  user:
    client-certificate: "/pki/kubelet-client-current.pem"
    client-key: "/pki/kubelet-client-current.pem"
`);
  });

  it("keeps inline authorities and all other connection settings of the bootstrap kubeconfig", () => {
    const endpoint = { ...client.endpoint, tlsServerName: "api", proxyUrl: "http://proxy:8080" };
    expect(
      bootstrapKubeconfig({ ...client, endpoint, authority: { text: "CA" } }, "/p")
        .split("\n")
        .slice(5, 9),
    ).toEqual([
      `    certificate-authority-data: ${btoa("CA")}`,
      '    tls-server-name: "api"',
      '    proxy-url: "http://proxy:8080"',
      '    server: "https://10.0.0.1:6443"',
    ]);
  });
});
