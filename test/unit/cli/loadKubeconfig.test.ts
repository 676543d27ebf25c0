import { beforeAll, describe, expect, it } from "vitest";
import { loadKubeconfig } from "../../../src/cli/loadKubeconfig.ts";
import { createTestAuthority, type PemIdentity, type TestAuthority } from "../../support/apiServer/certificates.ts";
import { memoryReaders } from "./memoryReaders.ts";

const FILE = "/etc/kubernetes/kubelet.conf";
const config = (cluster: string, user: string) => `apiVersion: v1
kind: Config
current-context: here
contexts:
- name: here
  context: {cluster: near, user: node}
clusters:
- name: near
  cluster:
    server: https://10.0.0.1:6443
${cluster}users:
- name: node
  user:
${user}`;

describe("loadKubeconfig", () => {
  let authority: TestAuthority | undefined;
  let [node, other]: PemIdentity[] = [];
  beforeAll(async () => {
    authority = await createTestAuthority();
    node = await authority.client({ commonName: "system:node:n1", organization: "system:nodes" });
    other = await authority.client({ commonName: "system:node:n2", organization: "system:nodes" });
  });
  const load = (files: Readonly<Record<string, string>>) => loadKubeconfig("kubeconfig", FILE, memoryReaders(files));
  const errors = async (files: Readonly<Record<string, string>>): Promise<readonly string[]> => {
    const loaded = await load(files);
    return loaded.ok ? [] : loaded.errors;
  };
  const PAIR = "    client-certificate: pki/current.pem\n    client-key: /pki/key.pem\n";

  it("reads what it names beside it, and remembers where the certificate is", async () => {
    const files = {
      [FILE]: config("    certificate-authority: pki/ca.crt\n", PAIR),
      "/etc/kubernetes/pki/ca.crt": authority?.certificate ?? "",
      "/etc/kubernetes/pki/current.pem": node?.certificate ?? "",
      "/pki/key.pem": node?.key ?? "",
    };
    expect(await load(files)).toEqual({
      ok: true,
      client: {
        endpoint: {
          server: "https://10.0.0.1:6443",
          certificateAuthority: authority?.certificate,
          tlsServerName: undefined,
          insecureSkipTlsVerify: false,
          proxyUrl: undefined,
        },
        authority: { file: "/etc/kubernetes/pki/ca.crt" },
        certificate: {
          certificate: { file: "/etc/kubernetes/pki/current.pem" },
          key: { file: "/pki/key.pem" },
        },
        identity: { certificate: node?.certificate, key: node?.key },
        proof: { kind: "none" },
      },
    });
  });

  it("says which file, line and field is wrong", async () => {
    expect(await errors({ [FILE]: config("    tls-server-name: [a]\n", "    as: root\n") })).toEqual([
      `${FILE}:11: clusters[0].cluster.tls-server-name: must be a string, got a list`,
      `${FILE}:15: users[0].user.as: is not supported: a node cannot impersonate other users`,
    ]);
  });

  it.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ["a file that is not there", {}, [`--kubeconfig: ${FILE}: cannot be read: no such file or directory`]],
    ["an empty file", { [FILE]: "" }, [`${FILE}: the file is empty`]],
    [
      "files that are not there",
      { [FILE]: config("    certificate-authority: ca.crt\n", PAIR) },
      [
        `${FILE}:11: clusters[0].cluster.certificate-authority: cannot be read: no such file or directory`,
        `${FILE}:15: users[0].user.client-certificate: cannot be read: no such file or directory`,
        `${FILE}:16: users[0].user.client-key: cannot be read: no such file or directory`,
      ],
    ],
    [
      "an empty token file",
      { [FILE]: config("", "    tokenFile: token\n"), "/etc/kubernetes/token": "\n" },
      [`${FILE}:14: users[0].user.tokenFile: /etc/kubernetes/token is empty`],
    ],
  ])("refuses %s", async (_what, files, expected) => {
    expect(await errors(files)).toEqual(expected);
  });

  it("refuses a key that is another certificate's", async () => {
    const files = {
      [FILE]: config("", PAIR),
      "/etc/kubernetes/pki/current.pem": node?.certificate ?? "",
      "/pki/key.pem": other?.key ?? "",
    };
    expect(await errors(files)).toEqual([
      expect.stringMatching(
        /^\/etc\/kubernetes\/kubelet\.conf:14: users\[0\]\.user\.client-certificate: cannot be used: /,
      ),
    ]);
  });
});
