/** The HTTP and gRPC servers of a node. */
import os from "node:os";
import path from "node:path";
import { defer, EMPTY, endWith, from, map, merge, type Observable, switchMap, tap } from "rxjs";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import { localSocketPath } from "../core/local/localSocket.ts";
import { podResourcesSocket, podsSocket } from "../core/paths.ts";
import type { Kubelet } from "../kubelet.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import { healthzServer } from "../server/healthzServer.ts";
import type { LocalApiOptions } from "../server/localApi/localApi.ts";
import { readOnlyServer } from "../server/readOnlyServer.ts";
import { podResourcesServer } from "../server/podResources/podResourcesServer.ts";
import type { PodsServerOptions } from "../server/pods/podsServer.ts";
import type { ListeningAddress } from "../server/serve.ts";
import type { ListeningServer, NodeOutput } from "./nodeOutput.ts";
import type { KubeletStart, NodeSetup } from "./nodeSetup.ts";

/**
 * Serves while subscribed: the pod resources API, the Pods API, healthz, the read-only server and the authenticated server,
 * as configured.
 */
export function nodeServers(
  setup: NodeSetup,
  ports: KubeletPorts,
  { config: { nodeName, directories }, metrics, memoryShedder: shedding, api }: KubeletStart,
  kubelet: Kubelet,
  localApi: LocalApiOptions | undefined,
): Observable<NodeOutput> {
  const { queries, commands, stats, node, podsChanged$ } = kubelet;
  const { config, flags } = setup.options;
  const { log } = setup;
  const { clock } = ports;
  const telemetry = { log, metrics };
  const listening = (server: ListeningServer, at$: Observable<ListeningAddress>): Observable<NodeOutput> =>
    at$.pipe(
      tap(({ address, port }) => log.info("Serving", { server, address, port })),
      map((at): NodeOutput => ({ kind: "listening", server, at })),
      endWith<NodeOutput>({ kind: "off", server }),
    );
  const { healthzBindAddress, healthzPort, readOnlyPort } = config;
  const readOnlyAddress = flags.readOnlyBindAddress || config.address;
  const names = new Set([nodeName, os.hostname().trim().toLowerCase()]);
  const healthz$ = () =>
    healthzServer({ address: healthzBindAddress, port: healthzPort, queries, telemetry, clock, names });
  const readOnly$ = () =>
    readOnlyServer({
      address: readOnlyAddress,
      port: readOnlyPort,
      mayMove: setup.mayMoveReadOnly,
      queries,
      stats,
      telemetry,
      tracing: ports.tracing,
      clock,
      names,
      metricsPage: metrics,
      showsHidden: config.showHiddenMetricsForVersion !== "",
      shedding,
    });
  const addresses$ = node.changes$.pipe(map((found) => found?.status?.addresses ?? []));
  const { podLogsDir } = directories;
  // A node without this server does not load its modules.
  const routes = { ...setup, ports, metrics, queries, commands, stats, podsChanged$, podLogsDir, nodeName, shedding };
  const https$ = () =>
    from(import("./httpsServer.ts")).pipe(
      switchMap(({ httpsServer }) => httpsServer({ ...routes, addresses$, localApi: setup.localApi && localApi })),
    );
  const socket = localSocketOf(setup);
  const local$ = () =>
    from(import("./localServer.ts")).pipe(
      switchMap(({ localServer }) =>
        socket === undefined || localApi === undefined
          ? EMPTY
          : localServer({ ...routes, socket, fd: setup.passedSocket?.fd, localApi, isStandalone: api === undefined }),
      ),
    );
  const servers = { healthz: healthz$, readOnly: readOnly$, https: https$ };
  const podResources$ = () =>
    podResourcesServer({ socket: podResourcesSocket(directories), queries, telemetry, clock });
  return merge(
    defer(podResources$),
    setup.options.featureGates.get("PodsAPI") === true
      ? podsApi({ socket: podsSocket(directories), queries, podsChanged$, telemetry, clock })
      : EMPTY,
    socket === undefined ? EMPTY : defer(local$),
    ...configuredServers(config).map((server) => listening(server, defer(servers[server]))),
  );
}

/** Returns the path of the local socket; undefined without one, as for `rxlet dev`. */
export const localSocketOf = ({
  options: { flags, client },
  ownsMachine = false,
  passedSocket,
}: NodeSetup): string | undefined =>
  passedSocket?.path ??
  (ownsMachine ? localSocketPath(flags.localSocket, path.resolve(flags.rootDir), client === undefined) : undefined);

/** The servers that a node has by its configuration. */
export const configuredServers = ({
  healthzPort,
  readOnlyPort,
  enableServer,
}: KubeletOptions["config"]): readonly ListeningServer[] => [
  ...(healthzPort > 0 ? ["healthz" as const] : []),
  ...(readOnlyPort > 0 ? ["readOnly" as const] : []),
  ...(enableServer ? ["https" as const] : []),
];

/** Serves the Pods API. A node without it does not load its messages. */
const podsApi = (options: PodsServerOptions): Observable<never> =>
  defer(() => from(import("../server/pods/podsServer.ts"))).pipe(switchMap(({ podsServer }) => podsServer(options)));
