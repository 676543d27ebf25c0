/** The way to the API server that the kubeconfig tells of, for as long as a node runs. */
import { ignoreElements, merge, NEVER, type Observable, of, tap, using } from "rxjs";
import type { ClientConfig } from "../core/api/clientConfig.ts";
import type { KubeletConfiguration } from "../core/config/kubeletConfiguration.ts";
import type { ApiLanes } from "../ports/apiServer.ts";
import type { Telemetry } from "../ports/telemetry.ts";
import { type ApiConnection, createApiLanes } from "../sinks/apiServer/apiLanes.ts";
import { createAuthorization } from "../sinks/apiServer/authorization.ts";
import { environmentProxy } from "../sinks/apiServer/environmentProxy.ts";
import { clientCertificate } from "../sources/clientCertificate.ts";
import { systemClock } from "../sources/systemClock.ts";
import { countApiRequests } from "./apiMetrics.ts";

/** client-go's, where the configuration says 0. */
const FALLBACK_QPS = 5;
const FALLBACK_BURST = 10;

const MS_PER_SECOND = 1000;

export interface ApiAccessSetup {
  readonly client: ClientConfig;
  readonly config: KubeletConfiguration;
  readonly telemetry: Telemetry;
  /** Name, version and platform, as the server logs them. */
  readonly userAgent: string;
}

/**
 * Emits the lanes once, and keeps them open until it is unsubscribed; a client certificate that is replaced on disk is
 * taken up meanwhile. Sends nothing by itself, so that a server that is away holds up nobody.
 */
export const apiAccess = (setup: ApiAccessSetup): Observable<ApiLanes> =>
  using(
    () => {
      const connection = openConnection(setup);
      return { connection, unsubscribe: () => connection.close() };
    },
    (opened) => {
      const { connection } = opened as unknown as { readonly connection: ApiConnection };
      return merge(of(connection.lanes), rotations(setup, connection), NEVER);
    },
  );

function openConnection({ client, config, telemetry, userAgent }: ApiAccessSetup): ApiConnection {
  const { endpoint, identity, proof } = client;
  const proxyUrl = endpoint.proxyUrl ?? environmentProxy(endpoint.server, process.env);
  const connection: ApiConnection = createApiLanes({
    endpoint: { ...endpoint, proxyUrl },
    identity,
    authorization: createAuthorization(proof, {
      clock: systemClock,
      onIdentity: (given) => connection.useIdentity(given),
    }),
    rate: { qps: config.kubeAPIQPS || FALLBACK_QPS, burst: config.kubeAPIBurst || FALLBACK_BURST },
    eventRate: { qps: config.eventRecordQPS, burst: config.eventBurst },
    heartbeatDeadlineMs: Math.min(config.nodeStatusUpdateFrequency, config.nodeLeaseDurationSeconds * MS_PER_SECOND),
    userAgent,
    clock: systemClock,
    observer: countApiRequests(telemetry.metrics),
  });
  return connection;
}

function rotations({ client, telemetry: { log } }: ApiAccessSetup, connection: ApiConnection): Observable<never> {
  const { certificate } = client;
  if (certificate === undefined || !("file" in certificate.certificate || "file" in certificate.key)) return NEVER;
  return clientCertificate(certificate, systemClock, (error) =>
    log.warn("The client certificate cannot be used; the last one stays in use", { error }),
  ).pipe(
    tap((identity) => connection.useIdentity(identity)),
    ignoreElements(),
  );
}
