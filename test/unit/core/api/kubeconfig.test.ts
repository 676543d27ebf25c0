import { describe, expect, it } from "vitest";
import { formatFieldPath } from "../../../../src/core/config/configProblem.ts";
import { decodeKubeconfig } from "../../../../src/core/api/kubeconfig.ts";

type Fields = Readonly<Record<string, unknown>>;

const document = (cluster: Fields = {}, user: Fields = {}, more: Fields = {}) => ({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "here",
  contexts: [
    { name: "elsewhere", context: { cluster: "far", user: "nobody" } },
    { name: "here", context: { cluster: "near", user: "node" } },
  ],
  clusters: [{ name: "near", cluster: { server: "https://10.0.0.1:6443", ...cluster } }],
  users: [{ name: "node", user }],
  ...more,
});
const decode = (wire: unknown) => decodeKubeconfig(wire, (path) => (path.startsWith("/") ? path : `/etc/${path}`));
const problems = (wire: unknown): readonly string[] => {
  const decoded = decode(wire);
  return decoded.ok
    ? []
    : decoded.problems.map(({ path, reason }) =>
        [formatFieldPath(path), reason].filter((part) => part !== "").join(": "),
      );
};
const value = (wire: unknown) => {
  const decoded = decode(wire);
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.problems));
  return decoded.value;
};
const exec = (more: Fields = {}) => ({
  exec: {
    apiVersion: "client.authentication.k8s.io/v1",
    command: "./bin/login",
    interactiveMode: "Never",
    ...more,
  },
});

describe("decodeKubeconfig", () => {
  it("returns the cluster and the user of the current context, with absolute paths", () => {
    const cluster = {
      "certificate-authority": "ca.crt",
      "tls-server-name": "kubernetes",
      "proxy-url": "socks5://10.0.0.9:1080",
    };
    const user = { "client-certificate": "/pki/current.pem", "client-key": "current.key" };
    expect(value(document(cluster, user))).toEqual({
      server: "https://10.0.0.1:6443",
      certificateAuthority: {
        source: { file: "/etc/ca.crt" },
        path: ["clusters", 0, "cluster", "certificate-authority"],
      },
      tlsServerName: "kubernetes",
      insecureSkipTlsVerify: false,
      proxyUrl: "socks5://10.0.0.9:1080",
      certificate: {
        certificate: { source: { file: "/pki/current.pem" }, path: ["users", 0, "user", "client-certificate"] },
        key: { source: { file: "/etc/current.key" }, path: ["users", 0, "user", "client-key"] },
      },
      proof: { kind: "none" },
      proofPath: ["users", 0, "user", ""],
    });
  });

  it("reads inline data", () => {
    const decoded = value(document({ "certificate-authority-data": btoa("a CA") }));
    expect(decoded.certificateAuthority?.source).toEqual({ text: "a CA" });
  });

  it.each<[string, Fields, object]>([
    ["nothing", {}, { kind: "none" }],
    ["a token", { token: "t" }, { kind: "token", token: "t" }],
    ["a token file", { tokenFile: "token" }, { kind: "tokenFile", file: "/etc/token" }],
    ["the token file rather than the token", { token: "t", tokenFile: "/t" }, { kind: "tokenFile", file: "/t" }],
    ["a password", { username: "u", password: "p" }, { kind: "basic", username: "u", password: "p" }],
    [
      "a plugin",
      exec({
        args: ["--now"],
        env: [{ name: "A", value: "b" }],
        provideClusterInfo: true,
        installHint: " get it \n",
      }),
      {
        kind: "exec",
        plugin: {
          apiVersion: "client.authentication.k8s.io/v1",
          command: "/etc/./bin/login",
          args: ["--now"],
          env: { A: "b" },
          installHint: "get it",
          cluster: { server: "https://10.0.0.1:6443" },
        },
      },
    ],
    [
      "a plugin of PATH",
      exec({ command: "login", apiVersion: "client.authentication.k8s.io/v1beta1", interactiveMode: undefined }),
      { kind: "exec", plugin: expect.objectContaining({ command: "login", cluster: undefined }) },
    ],
  ])("authenticates by %s", (_what, user, proof) => {
    expect(value(document({}, user)).proof).toEqual(proof);
  });

  it("passes the cluster and its extension to a plugin that asks for it", () => {
    const cluster = {
      ...{ server: "https://x", "tls-server-name": "y", "insecure-skip-tls-verify": false },
      ...{ "certificate-authority-data": btoa("CA"), "proxy-url": "http://p" },
    };
    const extensions = [
      { name: "other", extension: 1 },
      { name: "client.authentication.k8s.io/exec", extension: { audience: "a" } },
    ];
    const user = exec({ provideClusterInfo: true, interactiveMode: "IfAvailable" });
    const { proof } = value(document({ ...cluster, "disable-compression": true, extensions }, user));
    const plugin = { args: [], env: {}, installHint: "", cluster: { ...cluster, config: { audience: "a" } } };
    expect(proof).toMatchObject({ kind: "exec", plugin });
  });

  it("uses HTTP for a server without a scheme, and no credentials for a context without a user", () => {
    const contexts = [{ name: "here", context: { cluster: "near" } }];
    const { server, proof } = value(document({ server: "localhost:8080" }, {}, { contexts, users: [] }));
    expect([server, proof]).toEqual(["http://localhost:8080", { kind: "none" }]);
  });

  it("ignores unknown fields", () => {
    expect(problems(document({ extensions: [{ name: "x" }], future: 1 }, { future: 2 }, { preferences: {} }))).toEqual(
      [],
    );
  });

  const USER = "users[0].user";
  const CLUSTER = "clusters[0].cluster";
  it.each<[string, unknown, readonly string[]]>([
    ["a document that is not a map", [], ["must be a map, got a list", "current-context: is required"]],
    ["another kind", document({}, {}, { kind: "Pod" }), ['kind: must be Config, got "Pod"']],
    ["no context", document({}, {}, { "current-context": "" }), ["current-context: is required"]],
    [
      "a context that is not there",
      document({}, {}, { "current-context": "x" }),
      ['current-context: there is no context "x"'],
    ],
    [
      "a cluster and a user that are not there",
      document({}, {}, { "current-context": "elsewhere" }),
      ['contexts[0].context.cluster: there is no cluster "far"', 'contexts[0].context.user: there is no user "nobody"'],
    ],
    ["no server", document({ server: "" }), [`${CLUSTER}.server: is required`]],
    [
      "a server that is not a URL",
      document({ server: "ftp://x" }),
      [`${CLUSTER}.server: must be a URL of http or https, got "ftp://x"`],
    ],
    [
      "a server with a query",
      document({ server: "https://x?y" }),
      [`${CLUSTER}.server: must have neither query nor fragment`],
    ],
    ["a text field of another type", document({}, { token: 5 }), [`${USER}.token: must be a string, got 5`]],
    [
      "a flag of another type",
      document({ "insecure-skip-tls-verify": "no" }),
      [`${CLUSTER}.insecure-skip-tls-verify: must be true or false, got "no"`],
    ],
    [
      "data that is not base64",
      document({ "certificate-authority-data": "%" }),
      [`${CLUSTER}.certificate-authority-data: must be base64`],
    ],
    [
      "a file in addition to its data",
      document({ "certificate-authority": "a", "certificate-authority-data": "YQ==" }),
      [`${CLUSTER}.certificate-authority: cannot be set together with certificate-authority-data`],
    ],
    [
      "an authority that is not used",
      document({ "certificate-authority": "a", "insecure-skip-tls-verify": true }),
      [`${CLUSTER}.insecure-skip-tls-verify: cannot be true when there is a certificate authority`],
    ],
    [
      "a proxy of no known kind",
      document({ "proxy-url": "ftp://x" }),
      [`${CLUSTER}.proxy-url: must be a URL of http, https or socks5, got "ftp://x"`],
    ],
    [
      "a certificate without key",
      document({}, { "client-certificate": "a" }),
      [`${USER}.client-key: is required with a client certificate`],
    ],
    [
      "a key without certificate",
      document({}, { "client-key": "a" }),
      [`${USER}.client-certificate: is required with a client key`],
    ],
    [
      "two proofs",
      document({}, { token: "a", username: "b" }),
      [`${USER}.username: cannot be used together with token`],
    ],
    [
      "impersonation",
      document({}, { as: "root" }),
      [`${USER}.as: is not supported: a node cannot impersonate other users`],
    ],
    ["an auth provider", document({}, { "auth-provider": {} }), [`${USER}.auth-provider: is not supported: use exec`]],
    [
      "a plugin of which everything is wrong",
      document(
        {},
        exec({ apiVersion: "v1", command: "", interactiveMode: "Always", args: [1], env: [{ value: "x" }] }),
      ),
      [
        `${USER}.exec.apiVersion: must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1, got "v1"`,
        `${USER}.exec.interactiveMode: cannot be Always: a node has no interactive user`,
        `${USER}.exec.command: is required`,
        `${USER}.exec.args: must be a list of strings`,
        `${USER}.exec.env[0].name: is required`,
      ],
    ],
    [
      "a plugin that asks in an unknown way",
      document({}, exec({ interactiveMode: "Sometimes" })),
      [`${USER}.exec.interactiveMode: must be Never, IfAvailable, Always, got "Sometimes"`],
    ],
    ["arguments that are no list", document({}, exec({ args: "a" })), [`${USER}.exec.args: must be a list of strings`]],
    ["variables that are no list", document({}, exec({ env: {} })), [`${USER}.exec.env: must be a list, got a map`]],
    [
      "a variable that is no map",
      document({}, exec({ env: ["A"] })),
      [`${USER}.exec.env[0]: must be a map, got "A"`, `${USER}.exec.env[0].name: is required`],
    ],
    [
      "a plugin of v1 that does not say how it asks",
      document({}, exec({ interactiveMode: undefined })),
      [`${USER}.exec.interactiveMode: is required: Never, IfAvailable, Always`],
    ],
  ])("rejects %s", (_what, wire, expected) => {
    expect(problems(wire)).toEqual(expected);
  });
});
