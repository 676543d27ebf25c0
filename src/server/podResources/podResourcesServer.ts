/**
 * Serves the pod resources API on a Unix socket, for monitoring agents and schedulers on the node. Upstream:
 * ListenAndServePodResources in pkg/kubelet/server/server.go.
 */
import { Server } from "@grpc/grpc-js";
import { Observable, retry, timer } from "rxjs";
import { listenOnUnixSocket } from "../../grpcServer/unixSocket.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Telemetry } from "../../ports/telemetry.ts";
import { podResourcesServices, type PodResourcesQueries } from "./podResourcesService.ts";
import { createRateLimit } from "./rateLimit.ts";

const RETRY_MS = 10_000;

export interface PodResourcesServerOptions {
  /** Path of the socket. */
  readonly socket: string;
  readonly queries: PodResourcesQueries;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
}

/**
 * Serves while subscribed. Never emits; never errors: a socket that cannot be bound is logged and tried again every 10 s,
 * since an earlier kubelet may still hold it.
 */
export function podResourcesServer({
  socket,
  queries,
  telemetry,
  clock,
}: PodResourcesServerOptions): Observable<never> {
  return new Observable<never>((subscriber) => {
    const server = new Server();
    const mayServe = createRateLimit(() => clock.monotonicMs());
    for (const { definition, implementation } of podResourcesServices(queries, telemetry.metrics, mayServe)) {
      server.addService(definition, implementation);
    }
    let removeSocket = (): void => {};
    listenOnUnixSocket(server, socket).then(
      (remove) => {
        if (subscriber.closed) remove();
        else removeSocket = remove;
      },
      (error: unknown) => subscriber.error(error),
    );
    return () => {
      removeSocket();
      server.forceShutdown();
    };
  }).pipe(
    retry({
      delay: (error: unknown) => {
        telemetry.log.error("Failed to serve the pod resources API", { socket, error: String(error) });
        return timer(RETRY_MS, clock.scheduler);
      },
    }),
  );
}
