/**
 * Connections of one lane to the API server, by undici: HTTP/2 where the server speaks it, as client-go, so that all
 * watches share one connection; else HTTP/1.1, one connection for each request under way.
 */
import { buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";
import type { ApiEndpoint, TlsIdentity } from "../../core/api/clientConfig.ts";
import type { Clock } from "../../ports/clock.ts";
import { resetStreamsAtOnce } from "./http2Resets.ts";
import { watchLiveness } from "./liveness.ts";

type Connect = ReturnType<typeof buildConnector>;

/** Of requests under way: beyond that they wait. With HTTP/2 it is one connection per 250 of them. */
const MAX_CONNECTIONS = 256;
const MAX_STREAMS = 250;
/** As Go's transport: how long a connection is made, and kept without use. */
const DIAL_MS = 30_000;
const IDLE_MS = 90_000;
/** The kernel asks after a silent peer this often; HTTP/2 asks too, because data on its way stops the kernel's asking. */
const KEEP_ALIVE_MS = 30_000;
const PING_MS = 30_000;

/** What connections are made with. */
export interface DispatcherOptions {
  readonly endpoint: ApiEndpoint;
  readonly identity: TlsIdentity | undefined;
  readonly clock: Clock;
}

const watched =
  (connect: Connect, clock: Clock): Connect =>
  (options, callback) =>
    connect(options, (...made) => {
      const [, socket] = made;
      if (socket) watchLiveness(socket, clock);
      callback(...made);
    });

/** Makes the connections of a lane; none is opened before the first request. */
export function createDispatcher({ endpoint, identity, clock }: DispatcherOptions): Dispatcher {
  resetStreamsAtOnce();
  const { server, certificateAuthority, tlsServerName, insecureSkipTlsVerify, proxyUrl } = endpoint;
  const { origin } = new URL(server);
  const tls = {
    allowH2: true,
    preferH2: true,
    timeout: DIAL_MS,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
    rejectUnauthorized: !insecureSkipTlsVerify,
    ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
    ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
    ...(identity === undefined ? {} : { cert: identity.certificate, key: identity.key }),
  };
  const pool = {
    connections: MAX_CONNECTIONS,
    keepAliveTimeout: IDLE_MS,
    allowH2: true,
    h2Options: { maxConcurrentStreams: MAX_STREAMS, pingInterval: PING_MS },
  };
  if (proxyUrl === undefined) return new Pool(origin, { ...pool, connect: watched(buildConnector(tls), clock) });
  return new ProxyAgent({
    ...pool,
    uri: proxyUrl,
    requestTls: tls,
    // The agent knows how to go through its proxy; what it makes is watched like any other connection.
    factory: (target, options) => {
      const { connect } = options as { readonly connect: Connect };
      return new Pool(target, { ...options, ...pool, connect: watched(connect, clock) });
    },
  });
}
