import { beforeAll, describe, expect, it } from "vitest";
import { loadApiClients } from "../../../src/cli/loadApiClients.ts";
import { createTestAuthority, type TestAuthority } from "../../support/apiServer/certificates.ts";
import { memoryReaders } from "./memoryReaders.ts";

const [OWN, BOOTSTRAP] = ["/etc/kubernetes/kubelet.conf", "/etc/kubernetes/bootstrap-kubelet.conf"];
const file = (server: string, user: string) => `apiVersion: v1
kind: Config
current-context: here
contexts:
- {name: here, context: {cluster: near, user: me}}
clusters:
- {name: near, cluster: {server: "${server}"}}
users:
- name: me
  user: ${user}`;
const bootstrap = file("https://10.0.0.2:6443", "{token: abcdef.0123456789abcdef}");

describe("loadApiClients", () => {
  let authority: TestAuthority | undefined;
  beforeAll(async () => {
    authority = await createTestAuthority();
  });
  const load = (
    files: Readonly<Record<string, string>>,
    flags: { kubeconfig?: string; bootstrapKubeconfig?: string } = {},
  ) =>
    loadApiClients(
      { kubeconfig: OWN, bootstrapKubeconfig: BOOTSTRAP, certDir: "/pki", ...flags },
      memoryReaders(files),
    );
  const own = async (lifeMs?: number): Promise<string> => {
    const { certificate, key } = (await authority?.client({ commonName: "system:node:n1" }, lifeMs)) ?? {
      certificate: "",
      key: "",
    };
    return file(
      "https://10.0.0.1:6443",
      `{client-certificate-data: ${btoa(certificate)}, client-key-data: ${btoa(key)}}`,
    );
  };
  const reported = ({ client, bootstrap: given, errors, warnings }: Awaited<ReturnType<typeof load>>) => ({
    server: client?.endpoint.server,
    hasIdentity: client?.identity !== undefined,
    proof: client?.proof.kind,
    bootstrap: given?.proof.kind,
    errors,
    warnings,
  });
  const nothing = {
    server: undefined,
    hasIdentity: false,
    proof: undefined,
    bootstrap: undefined,
    errors: [],
    warnings: [],
  };

  it("uses a kubeconfig with a valid certificate; the bootstrap kubeconfig may be gone by then", async () => {
    const usual = { ...nothing, server: "https://10.0.0.1:6443", hasIdentity: true, proof: "none" };
    expect([
      reported(await load({ [OWN]: await own() })),
      reported(await load({ [OWN]: await own(), [BOOTSTRAP]: bootstrap })),
    ]).toEqual([usual, { ...usual, bootstrap: "token" }]);
  });

  const useless: readonly (readonly [string, () => Promise<string | undefined>, RegExp])[] = [
    ["is missing", async () => undefined, /^--kubeconfig: \/etc\/kubernetes\/kubelet.conf: cannot be read/],
    ["has no certificate", async () => file("https://10.0.0.1:6443", "{token: x}"), /^it has no client certificate$/],
    ["has an expired certificate", () => own(-1_000), /^its client certificate expired at /],
    ["is garbage", async () => "{", /kubelet.conf/],
  ];
  it.each(useless)("asks for a certificate when the kubeconfig %s", async (_why, make, problem) => {
    const text = await make();
    const loaded = await load({ ...(text === undefined ? {} : { [OWN]: text }), [BOOTSTRAP]: bootstrap });
    const words = "the client certificate is requested with the bootstrap kubeconfig: ";
    expect({
      ...reported(loaded),
      warnings: loaded.warnings.map((line) => problem.test(line.replace(words, ""))),
    }).toEqual({
      ...nothing,
      server: "https://10.0.0.2:6443",
      proof: "none",
      bootstrap: "token",
      warnings: [true],
    });
    const pair = { file: "/pki/kubelet-client-current.pem" };
    expect(loaded.client?.certificate).toEqual({ certificate: pair, key: pair });
  });

  it("says what is wrong with both when neither can be used", async () => {
    const { errors } = await load({});
    expect(errors).toEqual([
      `--kubeconfig: ${OWN} cannot be used, and neither can the bootstrap kubeconfig: --kubeconfig: ${OWN}: cannot be read: no such file or directory`,
      `--bootstrap-kubeconfig: ${BOOTSTRAP}: cannot be read: no such file or directory`,
    ]);
  });

  it("needs a good kubeconfig where there is no bootstrap kubeconfig", async () => {
    expect((await load({}, { bootstrapKubeconfig: "" })).errors).toEqual([
      `--kubeconfig: ${OWN}: cannot be read: no such file or directory`,
    ]);
  });

  it("runs standalone without --kubeconfig, and says that nothing comes of the other flag", async () => {
    expect([reported(await load({ [BOOTSTRAP]: bootstrap }, { kubeconfig: "" }))]).toEqual([
      { ...nothing, warnings: ["--bootstrap-kubeconfig is ignored without --kubeconfig: the node runs standalone"] },
    ]);
  });
});
