/**
 * Serves the Pods API on a Unix socket, with the gate PodsAPI: agents on the node read its pods from the kubelet instead of
 * the API server. Upstream: ListenAndServePods in pkg/kubelet/server/server.go.
 */
import type { Observable } from "rxjs";
import type { Clock } from "../../ports/clock.ts";
import { createRateLimit } from "../podResources/rateLimit.ts";
import { serveOnSocket } from "../serveOnSocket.ts";
import { type PodsQueries, podsService } from "./podsService.ts";
import { createPodWatch, type PodWatchOptions } from "./podWatch.ts";

export interface PodsServerOptions extends PodWatchOptions {
  /** Path of the socket. */
  readonly socket: string;
  readonly queries: PodsQueries;
  readonly clock: Clock;
}

/** Serves while subscribed. Never emits, never errors. */
export const podsServer = ({ socket, clock, ...options }: PodsServerOptions): Observable<never> =>
  serveOnSocket({
    socket,
    api: "the Pods API",
    services: () => {
      const mayServe = createRateLimit(() => clock.monotonicMs());
      return [podsService(options.queries, createPodWatch(options), mayServe)];
    },
    telemetry: options.telemetry,
    clock,
  });
