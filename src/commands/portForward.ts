/**
 * `rxlet port-forward POD [LOCAL:]REMOTE`: listens on local ports and forwards each connection to the pod as a pair of
 * SPDY streams of one connection to the kubelet. Bound: MAX_CONNECTIONS per local port.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { type Observable, switchMap } from "rxjs";
import type { ForwardedPort, PortForwardOptions } from "../cli/podCommandFlags.ts";
import { kubeletError } from "../core/errors.ts";
import { errnoOf } from "../core/ioError.ts";
import { fromCall } from "../operators/fromCall.ts";
import { openStreams } from "../sinks/kubeletStreams.ts";
import { systemClock } from "../sources/systemClock.ts";
import type { SpdyConnection } from "../streaming/spdyConnection.ts";
import { refusalOf, targetServer, unanswered } from "./targetServer.ts";
import { podOfKubelet } from "./podOfKubelet.ts";
import type { Screen } from "./showPage.ts";

const PROTOCOL = "portforward.k8s.io";
const MAX_CONNECTIONS = 256;

/** Forwards while subscribed. Errors: the connection to the kubelet ends. */
export const portForward = (options: PortForwardOptions, out: Screen, notes: Screen): Observable<never> =>
  targetServer(options.target).pipe(
    switchMap((server) =>
      podOfKubelet(server, options.namespace, options.pod).pipe(
        switchMap(({ metadata }) => {
          const path = [metadata.namespace, metadata.name].map(encodeURIComponent).join("/");
          return openStreams(`${server.url}/portForward/${path}`, PROTOCOL, server.access, systemClock).pipe(
            unanswered(server),
          );
        }),
        switchMap((answer) => {
          if (!("status" in answer)) return forwarding(answer, options, out, notes);
          const { status, text: said } = answer;
          throw refusalOf(server, status, said) ?? kubeletError("Unknown", said);
        }),
      ),
    ),
  );

const forwarding = (
  connection: SpdyConnection,
  { address, ports }: PortForwardOptions,
  out: Screen,
  notes: Screen,
): Observable<never> =>
  fromCall(async (signal) => {
    const listeners: Server[] = [];
    let requests = 0;
    const handOn = (socket: Socket, { remote }: ForwardedPort, local: number): void => {
      out.write(`Handling connection for ${local}\n`);
      requests += 1;
      join(connection, socket, remote, String(requests)).catch((thrown: unknown) => {
        socket.destroy();
        notes.write(`an error occurred forwarding ${local} -> ${remote}: ${(thrown as Error).message}\n`);
      });
    };
    signal.addEventListener("abort", () => {
      for (const listener of listeners) listener.close();
      connection.close();
    });
    for (const port of ports) {
      const opened = await listen(address, port, (socket, local) => handOn(socket, port, local));
      listeners.push(...opened);
      for (const listener of opened) {
        const { address: host, port: local } = listener.address() as AddressInfo;
        const shown = host.includes(":") ? `[${host}]` : host;
        out.write(`Forwarding from ${shown}:${local} -> ${port.remote}\n`);
      }
    }
    await connection.closed;
    for (const listener of listeners) listener.close();
    throw kubeletError("Unavailable", "lost connection to pod");
  });

/** Listens on both address families for localhost, as kubectl does; the second family may be missing. */
async function listen(
  address: string,
  { local }: ForwardedPort,
  accept: (socket: Socket, local: number) => void,
): Promise<readonly Server[]> {
  const hosts = address === "localhost" ? ["127.0.0.1", "::1"] : [address];
  const opened: Server[] = [];
  for (const host of hosts) {
    const first = opened[0]?.address() as AddressInfo | undefined;
    const listener = createServer({ allowHalfOpen: true }, (socket) => accept(socket, portOf(listener)));
    listener.maxConnections = MAX_CONNECTIONS;
    listener.listen(first?.port ?? local, host);
    try {
      await once(listener, "listening");
      opened.push(listener);
    } catch (thrown) {
      if (opened.length > 0 || (host === "127.0.0.1" && errnoOf(thrown) !== "EADDRINUSE" && hosts.length > 1)) continue;
      const why = errnoOf(thrown) === "EADDRINUSE" ? "another process uses this port" : (thrown as Error).message;
      throw kubeletError("Unavailable", `cannot listen on ${host}:${local}: ${why}`, { cause: thrown });
    }
  }
  return opened;
}

const portOf = (listener: Server): number => (listener.address() as AddressInfo).port;

/** Forwards one connection and resolves at its end. Rejects with the text of the error stream. */
async function join(connection: SpdyConnection, socket: Socket, remote: number, requestId: string): Promise<void> {
  socket.on("error", () => socket.destroy());
  const headers = (streamType: string): [string, string][] => [
    ["streamType", streamType],
    ["port", String(remote)],
    ["requestID", requestId],
  ];
  const error = await connection.createStream(headers("error"));
  const said = text(error);
  said.catch(() => {}); // awaited below
  error.end();
  const data = await connection.createStream(headers("data"));
  data.on("error", () => socket.destroy());
  socket.once("close", () => data.destroy());
  socket.pipe(data).pipe(socket);
  const problem = await said;
  if (problem !== "") throw new Error(problem.trim());
}
