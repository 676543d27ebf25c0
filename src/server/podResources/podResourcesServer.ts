/**
 * Serves the pod resources API on a Unix socket, for monitoring agents and schedulers on the node. Upstream:
 * ListenAndServePodResources in pkg/kubelet/server/server.go.
 */
import type { Observable } from "rxjs";
import type { Clock } from "../../ports/clock.ts";
import type { Telemetry } from "../../ports/telemetry.ts";
import { serveOnSocket } from "../serveOnSocket.ts";
import { podResourcesServices, type PodResourcesQueries } from "./podResourcesService.ts";
import { createRateLimit } from "./rateLimit.ts";

export interface PodResourcesServerOptions {
  /** Path of the socket. */
  readonly socket: string;
  readonly queries: PodResourcesQueries;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
}

/** Serves while subscribed. Never emits, never errors. */
export const podResourcesServer = ({
  socket,
  queries,
  telemetry,
  clock,
}: PodResourcesServerOptions): Observable<never> =>
  serveOnSocket({
    socket,
    api: "the pod resources API",
    services: () =>
      podResourcesServices(
        queries,
        telemetry.metrics,
        createRateLimit(() => clock.monotonicMs()),
      ),
    telemetry,
    clock,
  });
