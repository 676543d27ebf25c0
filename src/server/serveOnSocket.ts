/** Serves gRPC services on a Unix socket of the kubelet. */
import { Server, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { Observable, retry, timer } from "rxjs";
import { listenOnUnixSocket } from "../grpcServer/unixSocket.ts";
import type { Clock } from "../ports/clock.ts";
import type { Telemetry } from "../ports/telemetry.ts";

const RETRY_MS = 10_000;

interface Service {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

export interface SocketServerOptions {
  /** Path of the socket. */
  readonly socket: string;
  /** Name of the API in the log. */
  readonly api: string;
  /** Creates the services of one server. */
  readonly services: () => readonly Service[];
  readonly telemetry: Telemetry;
  readonly clock: Clock;
}

/**
 * Serves while subscribed. Never emits; never errors: a socket that cannot be bound is logged and tried again every 10 s,
 * since an earlier kubelet may still hold it.
 */
export function serveOnSocket({ socket, api, services, telemetry, clock }: SocketServerOptions): Observable<never> {
  return new Observable<never>((subscriber) => {
    const server = new Server();
    for (const { definition, implementation } of services()) server.addService(definition, implementation);
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
        telemetry.log.error(`Failed to serve ${api}`, { socket, error: String(error) });
        return timer(RETRY_MS, clock.scheduler);
      },
    }),
  );
}
