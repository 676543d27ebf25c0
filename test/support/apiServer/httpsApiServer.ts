/**
 * The simulated API server behind real HTTPS on loopback and the real clock: what a client meets on the wire, refusals
 * and faults included. It identifies clients by certificate or bearer token, and refuses all others.
 */
import { once } from "node:events";
import { createSecureServer, type Http2SecureServer } from "node:http2";
import { createServer as createHttp1Server, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Subscription } from "rxjs";
import { type ApiIdentity, userName } from "../../../src/sim/apiServer/identity.ts";
import {
  createSimApiServer,
  type SimApiServer,
  type SimApiServerOptions,
} from "../../../src/sim/apiServer/simApiServer.ts";
import { realClock } from "../realClock.ts";
import { createTestAuthority, type PemIdentity, type TestAuthority } from "./certificates.ts";
import { createFaultyNetwork, type FaultyNetwork } from "./faultyNetwork.ts";
import { serveRequests, type Tamper } from "./serveRequests.ts";

export interface HttpsApiServerOptions extends Omit<SimApiServerOptions, "clock"> {
  /** Default: both, as the real server. */
  readonly protocol?: "http/1.1";
}

/** A running server. */
export interface HttpsApiServer {
  readonly url: string;
  readonly authority: TestAuthority;
  /** The cluster behind it, and its hands. */
  readonly sim: SimApiServer;
  readonly network: FaultyNetwork;
  /** Requests so far: method and URL path with query. */
  readonly requests: readonly string[];
  /** Bearer tokens by user. */
  readonly tokens: Map<string, ApiIdentity>;
  /** A certificate that names who this is. */
  clientCertificate(identity: ApiIdentity, lifeMs?: number): Promise<PemIdentity>;
  /** Answers in place of the server until it is called with nothing. */
  tamper(how?: Tamper): void;
  close(): Promise<void>;
}

const GROUPS = { admin: "system:masters", node: "system:nodes", bootstrap: "system:bootstrappers" } as const;

/** Starts a server with the namespaces of a new cluster and nothing else. */
export async function startHttpsApiServer({
  protocol,
  ...simOptions
}: HttpsApiServerOptions = {}): Promise<HttpsApiServer> {
  const sim = createSimApiServer({ clock: realClock, latency: () => 0, ...simOptions });
  const authority = await createTestAuthority();
  const tokens = new Map<string, ApiIdentity>();
  const watches = new Set<Subscription>();
  const requests: string[] = [];
  let tamper: Tamper | undefined;

  const served = { sim, tokens, watches, onRequest: (line: string) => requests.push(line) };
  const handle = serveRequests({ ...served, tamper: (method, url) => tamper?.(method, url) });
  const server = await listen(protocol, authority, handle);
  const connections = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  const network = await createFaultyNetwork((server.address() as AddressInfo).port);
  return {
    url: `https://127.0.0.1:${network.port}`,
    authority,
    sim,
    network,
    requests,
    tokens,
    clientCertificate: (identity, lifeMs) =>
      authority.client({ commonName: userName(identity), organization: GROUPS[identity.kind] }, lifeMs),
    tamper: (how) => {
      tamper = how;
    },
    async close() {
      for (const subscription of watches) subscription.unsubscribe();
      await network.close();
      const closed = once(server, "close");
      server.close();
      // Destroy open sockets, so that no client keeps the server from closing.
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}

async function listen(
  protocol: "http/1.1" | undefined,
  authority: TestAuthority,
  handle: ReturnType<typeof serveRequests>,
): Promise<Server | Http2SecureServer> {
  const { certificate: cert, key } = await authority.server();
  const tls = { cert, key, ca: authority.certificate, requestCert: true, rejectUnauthorized: false };
  const server =
    protocol === undefined
      ? createSecureServer({ ...tls, allowHTTP1: true }, handle as never)
      : createHttp1Server(tls, handle);
  server.on("sessionError", () => {});
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
