/**
 * Decodes and validates a kubeconfig: the cluster and user of its current context. Unknown fields are ignored, as in
 * client-go. This module reads no files; it returns their paths, resolved against the kubeconfig's directory.
 * Upstream: client-go's clientcmd.
 */
import type { ConfigProblem, FieldPath } from "../config/configProblem.ts";
import type { ApiProof } from "./clientConfig.ts";
import { FieldReader, type FoundText, type ResolvePath } from "./fieldReader.ts";
import { readExecPlugin } from "./kubeconfigExec.ts";

/** Cluster and user of the current context. */
export interface Kubeconfig {
  readonly server: string;
  readonly certificateAuthority: FoundText | undefined;
  readonly tlsServerName: string | undefined;
  readonly insecureSkipTlsVerify: boolean;
  readonly proxyUrl: string | undefined;
  readonly certificate: { readonly certificate: FoundText; readonly key: FoundText } | undefined;
  readonly proof: ApiProof;
  /** The field that the credentials come from. */
  readonly proofPath: FieldPath;
}

/** The kubeconfig, or all problems found in it. */
export type DecodedKubeconfig =
  | { readonly ok: true; readonly value: Kubeconfig }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** Returns the member of a named list entry. */
function named(root: FieldReader, list: string, member: string, name: string): FieldReader | undefined {
  return root
    .list(list)
    .find((entry) => entry.map["name"] === name)
    ?.member(member);
}

/** Decodes the content of the file. `resolve` makes paths absolute, from the file's directory. */
export function decodeKubeconfig(wire: unknown, resolve: ResolvePath): DecodedKubeconfig {
  const problems: ConfigProblem[] = [];
  const root = new FieldReader(wire, [], problems);
  for (const [field, right] of [
    ["apiVersion", "v1"],
    ["kind", "Config"],
  ] as const) {
    const value = root.text(field);
    if (value !== "" && value !== right) root.fault(field, `must be ${right}, got ${JSON.stringify(value)}`);
  }
  const value = currentOf(root, resolve);
  return value === undefined || problems.length > 0 ? { ok: false, problems } : { ok: true, value };
}

function currentOf(root: FieldReader, resolve: ResolvePath): Kubeconfig | undefined {
  const current = root.text("current-context");
  if (current === "") {
    root.fault("current-context", "is required");
    return undefined;
  }
  const context = named(root, "contexts", "context", current);
  if (context === undefined) {
    root.fault("current-context", `there is no context ${JSON.stringify(current)}`);
    return undefined;
  }
  const [clusterName, userName] = [context.text("cluster"), context.text("user")];
  const cluster = named(root, "clusters", "cluster", clusterName);
  const user = userName === "" ? new FieldReader({}, [], root.problems) : named(root, "users", "user", userName);
  if (cluster === undefined) context.fault("cluster", `there is no cluster ${JSON.stringify(clusterName)}`);
  if (user === undefined) context.fault("user", `there is no user ${JSON.stringify(userName)}`);
  return cluster === undefined || user === undefined
    ? undefined
    : { ...clusterOf(cluster, resolve), ...userOf(user, cluster, resolve) };
}

const PROXY_SCHEMES = ["http:", "https:", "socks5:"];

function clusterOf(cluster: FieldReader, resolve: ResolvePath) {
  const certificateAuthority = cluster.found("certificate-authority", resolve);
  const insecureSkipTlsVerify = cluster.flag("insecure-skip-tls-verify");
  if (insecureSkipTlsVerify && certificateAuthority !== undefined) {
    cluster.fault("insecure-skip-tls-verify", "cannot be true when there is a certificate authority");
  }
  const proxyUrl = cluster.text("proxy-url");
  if (proxyUrl !== "" && !(URL.canParse(proxyUrl) && PROXY_SCHEMES.includes(new URL(proxyUrl).protocol))) {
    cluster.fault("proxy-url", `must be a URL of http, https or socks5, got ${JSON.stringify(proxyUrl)}`);
  }
  return {
    server: serverOf(cluster),
    certificateAuthority,
    tlsServerName: cluster.text("tls-server-name") || undefined,
    insecureSkipTlsVerify,
    proxyUrl: proxyUrl || undefined,
  };
}

/** Returns the base URL; a server without a scheme uses HTTP, as in client-go. */
function serverOf(cluster: FieldReader): string {
  const server = cluster.text("server");
  const url = server.includes("://") ? server : `http://${server}`;
  if (server === "") cluster.fault("server", "is required");
  else if (!URL.canParse(url) || !["http:", "https:"].includes(new URL(url).protocol)) {
    cluster.fault("server", `must be a URL of http or https, got ${JSON.stringify(server)}`);
  } else if (new URL(url).search !== "" || new URL(url).hash !== "") {
    cluster.fault("server", "must have neither query nor fragment");
  }
  return url;
}

function userOf(user: FieldReader, cluster: FieldReader, resolve: ResolvePath) {
  for (const field of ["as", "as-uid", "as-groups", "as-user-extra"]) {
    if (user.map[field] !== undefined) user.fault(field, "is not supported: a node cannot impersonate other users");
  }
  if (user.map["auth-provider"] !== undefined) user.fault("auth-provider", "is not supported: use exec");
  const certificate = user.found("client-certificate", resolve);
  const key = user.found("client-key", resolve);
  if (certificate !== undefined && key === undefined) user.fault("client-key", "is required with a client certificate");
  if (certificate === undefined && key !== undefined) user.fault("client-certificate", "is required with a client key");
  const pair = certificate === undefined || key === undefined ? undefined : { certificate, key };
  return { certificate: pair, ...proofOf(user, cluster, resolve) };
}

function proofOf(user: FieldReader, cluster: FieldReader, resolve: ResolvePath) {
  const [token, tokenFile] = [user.text("token"), user.text("tokenFile")];
  const [username, password] = [user.text("username"), user.text("password")];
  const given: readonly (readonly [string, ApiProof])[] = [
    // A token file takes precedence over a token, since the file is rotated.
    ...(tokenFile === ""
      ? token === ""
        ? []
        : [["token", { kind: "token", token }] as const]
      : [["tokenFile", { kind: "tokenFile", file: resolve(tokenFile) }] as const]),
    ...(username === "" && password === "" ? [] : [["username", { kind: "basic", username, password }] as const]),
    ...execOf(user, cluster, resolve),
  ];
  const [first, second] = given;
  if (second !== undefined) user.fault(second[0], `cannot be used together with ${first?.[0]}`);
  const proof: ApiProof = first?.[1] ?? { kind: "none" };
  return { proof, proofPath: user.at(first?.[0] ?? "") };
}

function execOf(
  user: FieldReader,
  cluster: FieldReader,
  resolve: ResolvePath,
): readonly (readonly [string, ApiProof])[] {
  if (user.map["exec"] === undefined || user.map["exec"] === null) return [];
  return [["exec", { kind: "exec", plugin: readExecPlugin(user.member("exec"), cluster, resolve) }]];
}
