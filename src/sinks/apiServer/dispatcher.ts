/**
 * Connections of one lane to the API server, on undici: HTTP/2 if the server supports it, as client-go, so that all
 * watches share one connection; otherwise HTTP/1.1 with one connection per request in flight.
 */
import dns from "node:dns";
import type { LookupFunction } from "node:net";
import { buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";
import type { ApiEndpoint, TlsIdentity } from "../../core/api/clientConfig.ts";
import type { Clock } from "../../ports/clock.ts";
import { resetStreamsAtOnce } from "./http2Resets.ts";
import { watchLiveness } from "./liveness.ts";

type Connect = ReturnType<typeof buildConnector>;

/** Bound on requests in flight; further requests wait. HTTP/2 opens one connection per 250 of them. */
const MAX_CONNECTIONS = 256;
const MAX_STREAMS = 250;
/** Connect and idle timeouts of Go's transport. */
const DIAL_MS = 30_000;
const IDLE_MS = 90_000;
/** Interval of TCP keep-alive probes; HTTP/2 pings as well, because data in flight suspends the kernel's probes. */
const KEEP_ALIVE_MS = 30_000;
const PING_MS = 30_000;

/** Credentials and trust of connections. */
export interface DispatcherOptions {
  readonly endpoint: ApiEndpoint;
  readonly identity: TlsIdentity | undefined;
  readonly clock: Clock;
  /** Called after each look-up of a host name for a new connection. */
  readonly onLookup?: ((host: string, durationMs: number) => void) | undefined;
}

/** Looks up names as `net.connect` does, and times it. */
const timedLookup =
  ({ clock, onLookup }: DispatcherOptions): LookupFunction =>
  (host, options, callback) => {
    const startedAt = clock.monotonicMs();
    dns.lookup(host, options, (...found) => {
      onLookup?.(host, clock.monotonicMs() - startedAt);
      (callback as (...found: readonly unknown[]) => void)(...found);
    });
  };

const watched =
  (connect: Connect, clock: Clock): Connect =>
  (options, callback) =>
    connect(options, (...made) => {
      const [, socket] = made;
      if (socket) watchLiveness(socket, clock);
      callback(...made);
    });

/** Creates the connections of a lane; opens none before the first request. */
export function createDispatcher(given: DispatcherOptions): Dispatcher {
  const { endpoint, identity, clock } = given;
  resetStreamsAtOnce();
  const { server, certificateAuthority, tlsServerName, insecureSkipTlsVerify, proxyUrl } = endpoint;
  const { origin } = new URL(server);
  const tls = {
    allowH2: true,
    preferH2: true,
    timeout: DIAL_MS,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
    lookup: timedLookup(given),
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
    // The agent connects through its proxy; the connections it makes are monitored like all others.
    factory: (target, options) => {
      const { connect } = options as { readonly connect: Connect };
      return new Pool(target, { ...options, ...pool, connect: watched(connect, clock) });
    },
  });
}
