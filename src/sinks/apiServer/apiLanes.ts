/**
 * All lanes to one API server: connections of their own each, rates as the configuration has them. Owns them; a client
 * certificate, or the authority of the server, is replaced on all at once.
 */
import { defer, tap } from "rxjs";
import type { ApiEndpoint, TlsIdentity } from "../../core/api/clientConfig.ts";
import { fairBuckets } from "../../operators/fairBuckets.ts";
import { noticeReturns } from "../../operators/noticeReturns.ts";
import { tokenBucket } from "../../operators/tokenBucket.ts";
import type { ApiLanes } from "../../ports/apiServer.ts";
import type { Clock } from "../../ports/clock.ts";
import { type ApiAuthorization, type ApiObserver, createApiServer } from "./createApiServer.ts";
import { createTransport } from "./transport.ts";

/** Requests per second, and at once; a rate of 0 or less is none. */
export interface ApiRate {
  readonly qps: number;
  readonly burst: number;
}

export interface ApiLanesOptions {
  readonly endpoint: ApiEndpoint;
  /** The client certificate to begin with. */
  readonly identity: TlsIdentity | undefined;
  readonly authorization: ApiAuthorization;
  /**
   * Of pods and objects together: `kubeAPIQPS` and `kubeAPIBurst`. Differs from upstream: reviews of tokens and those of
   * access have this rate each for themselves, so that strangers with tokens delay no pod.
   */
  readonly rate: ApiRate;
  /** `eventRecordQPS` and `eventBurst`. */
  readonly eventRate: ApiRate;
  /** How long a heartbeat may take: a late one is worth less than the next. */
  readonly heartbeatDeadlineMs: number;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly observer: ApiObserver;
}

/** The lanes, and hands on their connections. */
export interface ApiConnection {
  readonly lanes: ApiLanes;
  /** New connections with this certificate; calls under way end on the old ones, watches begin anew. */
  useIdentity(identity: TlsIdentity | undefined): void;
  /** New connections to servers of this authority (PEM), in the same way. */
  useAuthority(certificateAuthority: string): void;
  /** Ends everything under way. */
  close(): void;
}

const CALL_DEADLINE_MS = 30_000;
const NO_LIMIT = { qps: 0, burst: 1 };

/** Opens the lanes; nothing is sent before the first call. */
export function createApiLanes(options: ApiLanesOptions): ApiConnection {
  const { endpoint, identity, authorization, userAgent, clock, observer } = options;
  const transports = {
    heartbeats: createTransport({ endpoint, identity, clock }),
    pods: createTransport({ endpoint, identity, clock }),
    events: createTransport({ endpoint, identity, clock }),
    objects: createTransport({ endpoint, identity, clock }),
    tokenReviews: createTransport({ endpoint, identity, clock }),
    accessReviews: createTransport({ endpoint, identity, clock }),
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
          const tell = () => observer.onTurn("PATCH", transports.pods.host, clock.monotonicMs() - askedAt);
          return ofPods.acquire().pipe(tap({ complete: tell }));
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
