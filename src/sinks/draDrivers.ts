/**
 * Drivers of Dynamic Resource Allocation over gRPC: a connection to each registered plugin, for as long as it is
 * registered. A driver may have several plugins, as during a rolling update; calls go to the latest that is connected.
 * Bounds: a deadline on every call, 16 MiB per message. Upstream: pkg/kubelet/cm/dra/plugin.
 */
import { type Client, connectivityState } from "@grpc/grpc-js";
import {
  defer,
  distinctUntilChanged,
  EMPTY,
  finalize,
  from,
  map,
  Observable,
  of,
  scan,
  switchMap,
  takeWhile,
} from "rxjs";
import { type DraPlugin, type DraService, draServiceOf } from "../core/dra/driverServices.ts";
import { toKubeletError } from "../core/errors.ts";
import { statusNameOf } from "../core/grpcStatus.ts";
import { DRAPluginDefinition, DRAPluginV1beta1Definition, DRAResourceHealthDefinition } from "../gen/dra.ts";
import { keyedWorkers } from "../operators/keyedWorkers.ts";
import type { Clock } from "../ports/clock.ts";
import type { ServicePort } from "../ports/cri.ts";
import type { DraDriver, DraDriverMap, DraDrivers } from "../ports/draDrivers.ts";
import type { Telemetry } from "../ports/telemetry.ts";
import { openChannel } from "./grpcChannel.ts";
import { bindService, type GrpcCallRecord } from "./grpcService.ts";

const CALL_MS = 45_000;

export interface DraDriversOptions {
  /** Must run in real time. */
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

type PluginService = ServicePort<(typeof DRAPluginDefinition)["methods"]>;
type HealthService = ServicePort<(typeof DRAResourceHealthDefinition)["methods"]>;

const DEFINITIONS = {
  "v1.DRAPlugin": DRAPluginDefinition,
  "v1beta1.DRAPlugin": DRAPluginV1beta1Definition,
} as const satisfies Readonly<Record<DraService, unknown>>;

/** A plugin that came, changed its connection or (without driver) went. */
interface PluginNews {
  readonly key: string;
  readonly driver: DraDriver | undefined;
}

/** Creates the port; it connects while its stream is subscribed. */
export const createDraDrivers = (binding: DraDriversOptions): DraDrivers => ({
  follow: (plugins$) =>
    changesOf(plugins$).pipe(
      keyedWorkers<PluginChange, string, PluginNews>({
        key: ({ key }) => key,
        worker: (key, changes$) => pluginNews(key, changes$, binding),
      }),
      scan((plugins, { key, driver }) => {
        const next = new Map(plugins);
        if (driver === undefined) next.delete(key);
        else next.set(key, driver);
        return next;
      }, new Map<string, DraDriver>()),
      map(driversOf),
    ),
});

/** A plugin that registered, or (undefined) is no longer registered. */
interface PluginChange {
  readonly key: string;
  readonly plugin: DraPlugin | undefined;
}

const keyOf = ({ name, endpoint }: DraPlugin): string => `${name}\n${endpoint}`;
const sameServices = (a: DraPlugin, b: DraPlugin | undefined): boolean =>
  b !== undefined && a.services.join("\n") === b.services.join("\n");

function changesOf(registered$: Observable<readonly DraPlugin[]>): Observable<PluginChange> {
  let known: ReadonlyMap<string, DraPlugin> = new Map();
  return registered$.pipe(
    switchMap((plugins) => {
      const now = new Map(plugins.map((plugin) => [keyOf(plugin), plugin]));
      const before = known;
      known = now;
      const gone = [...before.keys()].filter((key) => !now.has(key)).map((key) => ({ key, plugin: undefined }));
      const news = [...now].filter(([key, plugin]) => !sameServices(plugin, before.get(key)));
      return from<PluginChange[]>([...gone, ...news.map(([key, plugin]) => ({ key, plugin }))]);
    }),
  );
}

/** Lives as long as the plugin is registered. */
const pluginNews = (
  key: string,
  changes$: Observable<PluginChange>,
  binding: DraDriversOptions,
): Observable<PluginNews> =>
  changes$.pipe(
    takeWhile(({ plugin }) => plugin !== undefined, true),
    switchMap(({ plugin }) =>
      plugin === undefined ? of({ key, driver: undefined }) : connected(key, plugin, binding),
    ),
  );

/** Emits the driver, and again when its connection changes. */
function connected(key: string, plugin: DraPlugin, binding: DraDriversOptions): Observable<PluginNews> {
  return defer(() => {
    const { log } = binding.telemetry;
    const service = draServiceOf(plugin);
    if (!service.ok) {
      log.error("Cannot use a DRA driver", { driver: plugin.name, endpoint: plugin.endpoint, error: service.error });
      return EMPTY;
    }
    try {
      const client = openChannel(plugin.endpoint);
      const driver = bindDriver(plugin, service.value, client, binding);
      return isReady(client).pipe(
        map((isConnected) => ({ key, driver: { ...driver, isConnected } })),
        finalize(() => client.close()),
      );
    } catch (thrown) {
      const error = toKubeletError(thrown);
      log.error("Cannot use a DRA driver", { driver: plugin.name, endpoint: plugin.endpoint, error });
      return EMPTY;
    }
  });
}

function bindDriver(
  { name, endpoint }: DraPlugin,
  service: DraService,
  client: Client,
  { clock, telemetry }: DraDriversOptions,
): Omit<DraDriver, "isConnected"> {
  const definition = DEFINITIONS[service];
  const onCall = ({ method, durationMs, code }: GrpcCallRecord): void =>
    telemetry.metrics.observe("dra_grpc_operations_duration_seconds", durationMs / 1_000, {
      driver_name: name,
      method_name: `/${definition.fullName}/${method}`,
      grpc_status_code: statusNameOf(code),
    });
  const shared = { client, endpoint, clock, peer: "plugin" } as const;
  const plugin = bindService<PluginService>(definition, { ...shared, deadlineMs: () => CALL_MS, onCall });
  const health = bindService<HealthService>(DRAResourceHealthDefinition, { ...shared, deadlineMs: () => undefined });
  return {
    name,
    prepare: (claims) => plugin.nodePrepareResources({ claims: [...claims] }),
    unprepare: (claims) => plugin.nodeUnprepareResources({ claims: [...claims] }),
    health$: defer(() => health.nodeWatchResources({})),
  };
}

/** Emits whether the connection is up; connects again whenever it is not. */
const isReady = (client: Client): Observable<boolean> =>
  new Observable<boolean>((subscriber) => {
    const channel = client.getChannel();
    const look = (): void => {
      if (subscriber.closed) return;
      const state = channel.getConnectivityState(true);
      subscriber.next(state === connectivityState.READY);
      channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, look);
    };
    look();
  }).pipe(distinctUntilChanged());

/** Returns the plugin to use of each driver: the latest that is connected, or else the latest. */
function driversOf(plugins: ReadonlyMap<string, DraDriver>): DraDriverMap {
  const drivers = new Map<string, DraDriver>();
  for (const plugin of plugins.values()) {
    if (plugin.isConnected || drivers.get(plugin.name)?.isConnected !== true) drivers.set(plugin.name, plugin);
  }
  return drivers;
}
