/**
 * Opens the lanes to the API server of the kubeconfig, and replaces their certificates and authorities while a node
 * runs.
 */
import {
  distinctUntilChanged,
  EMPTY,
  first,
  ignoreElements,
  merge,
  NEVER,
  type Observable,
  of,
  skip,
  startWith,
  switchMap,
  tap,
  using,
} from "rxjs";
import type { ClientConfig, TlsIdentity } from "../core/api/clientConfig.ts";
import { authoritiesIn } from "../core/cert/pemFile.ts";
import type { KubeletConfiguration } from "../core/config/kubeletConfiguration.ts";
import type { ApiLanes } from "../ports/apiServer.ts";
import type { Logger } from "../ports/telemetry.ts";
import type { Tracing } from "../ports/tracing.ts";
import { type ApiConnection, createApiLanes } from "../sinks/apiServer/apiLanes.ts";
import { createAuthorization } from "../sinks/apiServer/authorization.ts";
import type { ApiAuthorization } from "../sinks/apiServer/createApiServer.ts";
import { environmentProxy } from "../sinks/apiServer/environmentProxy.ts";
import { authorityFile } from "../sources/authorityFile.ts";
import { systemClock } from "../sources/systemClock.ts";
import { createCell, type ReadonlyCell } from "../state/cell.ts";
import { countApiRequests } from "./apiMetrics.ts";
import { type ExecPluginMetrics, execPluginMetrics } from "./execPluginMetrics.ts";
import { type ClientCertificateSetup, clientIdentities } from "./clientIdentities.ts";

/** Defaults of client-go, used where the configuration has 0. */
const FALLBACK_QPS = 5;
const FALLBACK_BURST = 10;

const MS_PER_SECOND = 1000;

export interface ApiAccessSetup extends Omit<ClientCertificateSetup, "own" | "openBootstrap"> {
  readonly config: KubeletConfiguration;
  /** Name, version and platform, as the server logs them. */
  readonly userAgent: string;
  /** Absent: requests are not traced. */
  readonly tracing?: Tracing | undefined;
}

/**
 * Emits the lanes once, and keeps them open until unsubscribed; they switch to each new client certificate. Without a
 * certificate, requests wait until the node has its first. Never waits itself: an unreachable server delays no
 * caller.
 */
export const apiAccess = (setup: ApiAccessSetup): Observable<ApiLanes> =>
  using(
    () => {
      const hasIdentity = createCell(setup.client.identity !== undefined || setup.bootstrap === undefined);
      const onCertificate = execPluginMetrics(setup.metrics, systemClock);
      const connection = openConnection({ ...setup, onCertificate }, setup.client, (inner) =>
        onceIdentified(inner, hasIdentity),
      );
      return { connection, hasIdentity, onCertificate, unsubscribe: () => connection.close() };
    },
    (opened) => {
      const { connection, hasIdentity, onCertificate } = opened as OpenAccess;
      const bootstrapping = createCell<Following | undefined>(undefined);
      const identities$ = clientIdentities({
        ...setup,
        own: connection.lanes.objects,
        openBootstrap: (client) => {
          const made = openConnection({ ...setup, onCertificate }, client);
          bootstrapping.set({ client, connection: made });
          const close = (): void => {
            bootstrapping.set(undefined);
            made.close();
          };
          return { ...made, close };
        },
      }).pipe(
        tap((identity) => {
          connection.useIdentity(identity);
          hasIdentity.set(true);
        }),
        ignoreElements(),
      );
      const authorities$ = merge(
        followAuthority({ client: setup.client, connection }, setup.log),
        bootstrapping.changes$.pipe(
          switchMap((open) => (open === undefined ? EMPTY : followAuthority(open, setup.log))),
        ),
      );
      return merge(of(connection.lanes), identities$, authorities$, NEVER);
    },
  );

/** A connection, and the client configuration that names its authority. */
interface Following {
  readonly client: ClientConfig;
  readonly connection: ApiConnection;
}

/** Replaces the authority of a connection whenever its file changes after the start. */
const followAuthority = ({ client: { authority, endpoint }, connection }: Following, log: Logger): Observable<never> =>
  authority === undefined || !("file" in authority)
    ? EMPTY
    : authorityFile(authority.file, systemClock, (error) =>
        log.warn("The certificate authority of the API server cannot be used; the last one stays in use", { error }),
      ).pipe(
        startWith(authoritiesIn(endpoint.certificateAuthority ?? "").join("")),
        distinctUntilChanged(),
        skip(1),
        tap((next) => connection.useAuthority(next)),
        ignoreElements(),
      );

interface OpenAccess {
  readonly connection: ApiConnection;
  readonly hasIdentity: ReturnType<typeof createCell<boolean>>;
  readonly onCertificate: ExecPluginMetrics;
  unsubscribe(): void;
}

/** Delays requests while the node has no identity. */
const onceIdentified = (inner: ApiAuthorization, hasIdentity: ReadonlyCell<boolean>): ApiAuthorization => ({
  headers: () =>
    hasIdentity.changes$.pipe(
      first((has) => has),
      switchMap(() => inner.headers()),
    ),
  rejected: () => inner.rejected(),
});

function openConnection(
  {
    config,
    log,
    metrics,
    userAgent,
    tracing,
    onCertificate,
  }: Pick<ApiAccessSetup, "config" | "log" | "metrics" | "userAgent" | "tracing"> & Pick<OpenAccess, "onCertificate">,
  client: ClientConfig,
  gate: (authorization: ApiAuthorization) => ApiAuthorization = (authorization) => authorization,
): ApiConnection {
  const { endpoint, identity, proof } = client;
  const useIdentity = (given: TlsIdentity): void => {
    onCertificate(client, given);
    connection.useIdentity(given);
  };
  const proxyUrl = endpoint.proxyUrl ?? environmentProxy(endpoint.server, process.env);
  const connection: ApiConnection = createApiLanes({
    endpoint: { ...endpoint, proxyUrl },
    identity,
    authorization: gate(
      createAuthorization(proof, {
        clock: systemClock,
        onIdentity: useIdentity,
        onRun: ({ status, code }) =>
          metrics.count("rest_client_exec_plugin_call_total", { call_status: status, code: String(code) }),
      }),
    ),
    rate: { qps: config.kubeAPIQPS || FALLBACK_QPS, burst: config.kubeAPIBurst || FALLBACK_BURST },
    eventRate: { qps: config.eventRecordQPS, burst: config.eventBurst },
    heartbeatDeadlineMs: Math.min(config.nodeStatusUpdateFrequency, config.nodeLeaseDurationSeconds * MS_PER_SECOND),
    userAgent,
    clock: systemClock,
    observer: countApiRequests({ metrics, log }),
    tracing,
  });
  return connection;
}
