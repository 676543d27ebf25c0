/** The HTTP and gRPC servers of a node. */
import os from "node:os";
import path from "node:path";
import {
  combineLatest,
  defer,
  EMPTY,
  endWith,
  from,
  map,
  merge,
  type Observable,
  of,
  shareReplay,
  switchMap,
  tap,
} from "rxjs";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import { localSocketPath } from "../core/local/localSocket.ts";
import { addressKind } from "../core/node/ipAddress.ts";
import { podResourcesSocket, podsSocket } from "../core/paths.ts";
import type { Kubelet } from "../kubelet.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import { healthzServer } from "../server/healthzServer.ts";
import type { LocalApiOptions } from "../server/localApi/localApi.ts";
import type { Shedding } from "../ports/shedding.ts";
import type { LiveRoutesOptions } from "../server/live/liveRoutes.ts";
import { readOnlyServer } from "../server/readOnlyServer.ts";
import { podResourcesServer } from "../server/podResources/podResourcesServer.ts";
import type { PodsServerOptions } from "../server/pods/podsServer.ts";
import type { ListeningAddress } from "../server/serve.ts";
import type { LiveViewSetup } from "./liveView.ts";
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
  const { podLogsDir } = directories;
  const telemetry = { log, metrics };
  const listening = (server: ListeningServer, at$: Observable<ListeningAddress>): Observable<NodeOutput> =>
    at$.pipe(
      tap(({ address, port }) => log.info("Serving", { server, address, port })),
      map((at): NodeOutput => ({ kind: "listening", server, at })),
      endWith<NodeOutput>({ kind: "off", server }),
    );
  const { healthzBindAddress, healthzPort } = config;
  const names = hostNames(nodeName);
  const healthz$ = () =>
    healthzServer({ address: healthzBindAddress, port: healthzPort, queries, telemetry, clock, names });
  const live$ = liveRoutes(flags.liveView, { ...setup, kubelet, ports, metrics, nodeName, podLogsDir });
  const readOnly$ = () => readOnly(setup, ports, { nodeName, metrics, shedding }, kubelet, live$);
  const addresses$ = node.changes$.pipe(map((found) => found?.status?.addresses ?? []));
  // A node without this server does not load its modules.
  const routes = { ...setup, ports, metrics, queries, commands, stats, podsChanged$, podLogsDir, nodeName, shedding };
  const https$ = () =>
    combineLatest([import("./httpsServer.ts"), live$]).pipe(
      switchMap(([{ httpsServer }, live]) =>
        httpsServer({ ...routes, addresses$, live, localApi: setup.localApi && localApi }),
      ),
    );
  const socket = localSocketOf(setup);
  const local$ = () =>
    from(import("./localServer.ts")).pipe(
      switchMap(({ localServer }) =>
        socket === undefined || localApi === undefined
          ? EMPTY
          : localServer({
              ...routes,
              kubelet,
              socket,
              fd: setup.passedSocket?.fd,
              localApi,
              isStandalone: api === undefined,
            }),
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

/** Host names of the node. */
const hostNames = (nodeName: string): ReadonlySet<string> => new Set([nodeName, os.hostname().trim().toLowerCase()]);

function readOnly(
  { options: { config, flags }, log, mayMoveReadOnly: mayMove }: NodeSetup,
  { tracing, clock }: KubeletPorts,
  {
    nodeName,
    metrics,
    shedding,
  }: Pick<KubeletStart, "metrics"> & {
    readonly nodeName: string;
    readonly shedding: Shedding;
  },
  { queries, stats }: Kubelet,
  live$: Observable<LiveRoutesOptions | undefined>,
): Observable<ListeningAddress> {
  const address = flags.readOnlyBindAddress || config.address;
  return live$.pipe(
    switchMap((live) =>
      readOnlyServer({
        ...{ address, port: config.readOnlyPort, mayMove, queries, stats, tracing, clock, shedding },
        telemetry: { log, metrics },
        names: hostNames(nodeName),
        metricsPage: metrics,
        showsHidden: config.showHiddenMetricsForVersion !== "",
        // Without authentication the view is for users of this machine alone.
        live: addressKind(address) === "loopback" ? live : undefined,
      }),
    ),
  );
}

/** The live view that all servers share, if the node has one; its modules are loaded then only. */
const liveRoutes = (isOn: boolean, setup: LiveViewSetup): Observable<LiveRoutesOptions | undefined> =>
  isOn
    ? from(import("./liveView.ts")).pipe(
        map(({ liveViewRoutes }) => liveViewRoutes(setup)),
        shareReplay({ bufferSize: 1, refCount: true }),
      )
    : of(undefined);

/** Serves the Pods API. A node without it does not load its messages. */
const podsApi = (options: PodsServerOptions): Observable<never> =>
  defer(() => from(import("../server/pods/podsServer.ts"))).pipe(switchMap(({ podsServer }) => podsServer(options)));
