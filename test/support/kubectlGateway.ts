/**
 * The minimal API server that kubectl needs to reach the pods of one kubelet: discovery, pods as the kubelet lists
 * them, and its connections joined to the kubelet's as the real one joins them.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { connect, type ConnectionOptions } from "node:tls";
import type { Pod } from "../../src/core/api.ts";

export interface KubectlGateway {
  /** Base URL for `kubectl --server`. */
  readonly url: string;
  close(): Promise<void>;
}

const POD_PATH = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/?]+)(?:\/(exec|attach|portforward))?(?:\?(.*))?$/;
const LOG_PATH = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/?]+)\/log(?:\?(.*))?$/;
const VERBS = ["get", "create"];
const RESOURCES = ["pods", "pods/exec", "pods/attach", "pods/portforward"].map((name) => ({
  name,
  singularName: name === "pods" ? "pod" : "",
  namespaced: true,
  kind: "Pod",
  verbs: VERBS,
  ...(name === "pods" ? { shortNames: ["po"] } : {}),
}));
const DISCOVERY: Readonly<Record<string, unknown>> = {
  "/api": { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] },
  "/apis": { kind: "APIGroupList", apiVersion: "v1", groups: [] },
  "/api/v1": { kind: "APIResourceList", groupVersion: "v1", resources: RESOURCES },
  "/version": { major: "1", minor: "36", gitVersion: "v1.36.0" },
};
/** Stream names of kubectl, mapped to those of the kubelet. */
const STREAMS = { stdin: "input", stdout: "output", stderr: "error", tty: "tty" } as const;

/** Opens one before the kubelet that `kubelet` connects to. */
export async function openKubectlGateway(
  kubelet: ConnectionOptions,
  pods: () => Promise<readonly Pod[]>,
): Promise<KubectlGateway> {
  const sockets = new Set<Socket>();
  const server = createServer((request, answer) => {
    const isLog = LOG_PATH.test(request.url ?? "");
    void (isLog ? passLog(kubelet, request, answer, pods) : answerRead(request, answer, pods));
  });
  server.on("connection", (socket) => sockets.add(socket.on("error", () => {})));
  server.on("upgrade", (request, socket: Socket, head) => void join(request, socket, head));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const join = async (request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> => {
    const path = kubeletPath(request.url ?? "", await pods());
    if (path === undefined) return void socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
    const upstream = connect({ ...kubelet, allowHalfOpen: true } as ConnectionOptions);
    sockets.add(upstream);
    const headers: string[] = [];
    for (let at = 0; at < request.rawHeaders.length; at += 2) {
      headers.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`);
    }
    upstream.write(`${request.method} ${path} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`);
    upstream.write(head);
    const end = () => [socket, upstream].forEach((each) => each.destroy());
    for (const each of [socket, upstream]) each.on("error", end).on("close", end);
    socket.pipe(upstream).pipe(socket);
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

const podAt = (pods: readonly Pod[], namespace = "", name = ""): Pod | undefined =>
  pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);

async function answerRead(
  { url = "" }: IncomingMessage,
  answer: ServerResponse,
  pods: () => Promise<readonly Pod[]>,
): Promise<void> {
  const [, namespace, name] = POD_PATH.exec(url) ?? [];
  const pod = name === undefined ? undefined : podAt(await pods(), namespace, name);
  const found = pod === undefined ? DISCOVERY[url.split("?")[0] ?? ""] : { apiVersion: "v1", kind: "Pod", ...pod };
  answer.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" });
  answer.end(JSON.stringify(found ?? { kind: "Status", apiVersion: "v1", status: "Failure", code: 404 }));
}

/** Older versions of kubectl leave the only container to the server. */
async function passLog(
  kubelet: ConnectionOptions,
  { url = "" }: IncomingMessage,
  answer: ServerResponse,
  pods: () => Promise<readonly Pod[]>,
): Promise<void> {
  const [, namespace, name, query = ""] = LOG_PATH.exec(url) ?? [];
  const [only] = podAt(await pods(), namespace, name)?.spec.containers ?? [];
  const container = new URLSearchParams(query).get("container") ?? only?.name;
  const path = `/containerLogs/${namespace}/${name}/${container}?${query}`;
  const log = httpsRequest({ ...(kubelet as RequestOptions), agent: false, path }, (found) => {
    answer.writeHead(found.statusCode ?? 500, found.headers);
    found.pipe(answer);
  });
  log.on("error", () => answer.destroy()).end();
  answer.on("close", () => log.destroy());
}

function kubeletPath(url: string, pods: readonly Pod[]): string | undefined {
  const [, namespace, name, verb, query = ""] = POD_PATH.exec(url) ?? [];
  const pod = podAt(pods, namespace, name);
  if (pod === undefined || verb === undefined) return undefined;
  const given = new URLSearchParams(query);
  if (verb === "portforward") return `/portForward/${namespace}/${name}?${given}`;
  const asked = new URLSearchParams(given.getAll("command").map((word): [string, string] => ["command", word]));
  for (const [from, to] of Object.entries(STREAMS)) if (given.get(from) === "true") asked.set(to, "1");
  return `/${verb}/${namespace}/${name}/${given.get("container") ?? pod.spec.containers[0]?.name}?${asked}`;
}
