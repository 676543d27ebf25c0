/**
 * All lanes to one API server, each with its own connections and its configured rate limit. Owns the lanes; replaces
 * a client certificate or the server's CA on all of them at once.
 */
import { defer, tap } from "rxjs";
import type { ApiEndpoint, TlsIdentity } from "../../core/api/clientConfig.ts";
import { fairBuckets } from "../../operators/fairBuckets.ts";
import { noticeReturns } from "./noticeReturns.ts";
import { tokenBucket } from "../../operators/tokenBucket.ts";
import type { ApiLanes } from "../../ports/apiServer.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Tracing } from "../../ports/tracing.ts";
import { type ApiAuthorization, type ApiObserver, createApiServer } from "./createApiServer.ts";
import { tracedTransport } from "./tracedTransport.ts";
import { createTransport, type Transport } from "./transport.ts";

/** Requests per second and burst; a rate of 0 or less disables the limit. */
export interface ApiRate {
  readonly qps: number;
  readonly burst: number;
}

export interface ApiLanesOptions {
  readonly endpoint: ApiEndpoint;
  /** The initial client certificate. */
  readonly identity: TlsIdentity | undefined;
  readonly authorization: ApiAuthorization;
  /**
   * Rate of pods and objects together: `kubeAPIQPS` and `kubeAPIBurst`. Differs from upstream: token reviews and
   * access reviews each have a separate limit of this rate, so that clients with invalid tokens delay no pod.
   */
  readonly rate: ApiRate;
  /** `eventRecordQPS` and `eventBurst`. */
  readonly eventRate: ApiRate;
  /** Deadline of a heartbeat: a late heartbeat is worth less than the next one. */
  readonly heartbeatDeadlineMs: number;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly observer: ApiObserver;
  /** Absent: requests are not traced. */
  readonly tracing?: Tracing | undefined;
}

/** The lanes, and the functions that replace their connections. */
export interface ApiConnection {
  readonly lanes: ApiLanes;
  /** Opens new connections with this certificate; calls in flight finish on the old ones, watches restart. */
  useIdentity(identity: TlsIdentity | undefined): void;
  /** Opens new connections to servers of this CA (PEM), in the same way. */
  useAuthority(certificateAuthority: string): void;
  /** Cancels all calls in flight. */
  close(): void;
}

const CALL_DEADLINE_MS = 30_000;
const NO_LIMIT = { qps: 0, burst: 1 };

/** Creates the lanes; sends no request before the first call. */
export function createApiLanes(options: ApiLanesOptions): ApiConnection {
  const { endpoint, identity, authorization, userAgent, clock, observer, tracing } = options;
  const onLookup = (host: string, durationMs: number): void => observer.onLookup?.(host, durationMs);
  const open = (): Transport =>
    tracedTransport(createTransport({ endpoint, identity, clock, onLookup }), endpoint.server, tracing);
  const transports = {
    heartbeats: open(),
    pods: open(),
    events: open(),
    objects: open(),
    tokenReviews: open(),
    accessReviews: open(),
  };
  const unlimited = tokenBucket({ ...NO_LIMIT, clock });
  const lane = (name: keyof typeof transports, bucket = unlimited, observedBy = observer) =>
    createApiServer({
      transport: transports[name],
      authorization,
      bucket,
      clock,
      userAgent,
      deadlineMs: name === "heartbeats" ? options.heartbeatDeadlineMs : CALL_DEADLINE_MS,
      reconnectsAfterDeadline: name === "heartbeats",
      observer: observedBy,
    });
  const [ofPods = unlimited, ofObjects] = fairBuckets(tokenBucket({ ...options.rate, clock }), 2);
  const all = Object.values(transports);
  return {
    lanes: noticeReturns({
      heartbeats: lane("heartbeats"),
      pods: lane("pods", unlimited, { ...observer, onTurn: () => {} }),
      podTurn: () =>
        defer(() => {
          const askedAt = clock.monotonicMs();
          const reportTurn = () => observer.onTurn("PATCH", transports.pods.host, clock.monotonicMs() - askedAt);
          return ofPods.acquire().pipe(tap({ complete: reportTurn }));
        }),
      events: lane("events", tokenBucket({ ...options.eventRate, clock })),
      objects: lane("objects", ofObjects),
      tokenReviews: lane("tokenReviews", tokenBucket({ ...options.rate, clock })),
      accessReviews: lane("accessReviews", tokenBucket({ ...options.rate, clock })),
    }),
    useIdentity: (next) => all.forEach((transport) => transport.useIdentity(next)),
    useAuthority: (next) => all.forEach((transport) => transport.useAuthority(next)),
    close: () => all.forEach((transport) => transport.close()),
  };
}
