/**
 * Registers the plugins whose sockets are in the directory of plugins, and keeps the cell `plugins`. Each socket has a
 * worker of its own, so a plugin that hangs, lies or fails delays no other. Bounds: MAX_PLUGIN_SOCKETS workers, one listing
 * at a time. Upstream: pkg/kubelet/pluginmanager.
 *
 *     hints, every 10 s --> listing --> changes by socket --> worker: registerPlugin --> cell plugins
 */
import { catchError, concat, defer, EMPTY, ignoreElements, map, merge, type Observable, of, scan } from "rxjs";
import { switchMap, takeWhile, tap } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import { followSockets, NO_SOCKETS, type SocketChange } from "../../core/plugins/pluginSockets.ts";
import type { RegisteredPlugin, RegisteredPlugins } from "../../core/plugins/registeredPlugins.ts";
import type { BackoffCurve } from "../../operators/backoffDelay.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { deadline } from "../../operators/deadline.ts";
import { eachOf } from "../../operators/eachOf.ts";
import { keyedWorkers } from "../../operators/keyedWorkers.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import { retryWithBackoff } from "../../operators/retryWithBackoff.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { PluginSockets } from "../../ports/plugins.ts";
import type { Cell } from "../../state/cell.ts";
import type { PluginHandlers } from "./pluginHandlers.ts";
import { registerPlugin } from "./registerPlugin.ts";

type Ports = Pick<KubeletPorts, "clock" | "rng" | "telemetry" | "plugins">;

/** Hints can be lost, and a plugin may replace its socket within one. */
const RESYNC_MS = 10_000;
const LISTING_DEADLINE_MS = 10_000;
const WATCH_BACKOFF: BackoffCurve = { initialMs: 200, maxMs: 30_000, jitter: 0.2 };

/** The state of one socket: its plugin, once registered. */
interface SocketState {
  readonly path: string;
  readonly plugin: RegisteredPlugin | undefined;
}

/** Runs while subscribed. Never emits, never errors. */
export function pluginManager(
  ports: Ports,
  handlers: PluginHandlers,
  cell: Cell<RegisteredPlugins>,
): Observable<never> {
  const { plugins, telemetry } = ports;
  if (plugins === undefined) return EMPTY;
  const { sockets, registration } = plugins;
  const stateOf = (path: string, plugin?: RegisteredPlugin): SocketState => ({ path, plugin });
  const work = (path: string, change$: Observable<SocketChange>): Observable<SocketState> =>
    change$.pipe(
      takeWhile(({ socket }) => socket !== undefined, true),
      switchMap(({ socket }) => {
        const registered$ = socket && registerPlugin(socket, handlers, { ...ports, registration });
        return concat(of(stateOf(path)), registered$?.pipe(map((plugin) => stateOf(path, plugin))) ?? EMPTY);
      }),
    );
  return changesOf(ports, sockets).pipe(
    tap((change) => countDesired(ports, change)),
    keyedWorkers({ key: ({ path }) => path, worker: work }),
    tap(({ path, plugin }) => {
      const before = cell.value.get(path);
      if (before !== undefined) telemetry.log.info("A plugin is deregistered", wordsOf(before));
      if (plugin !== undefined) telemetry.log.info("A plugin is registered", wordsOf(plugin));
      countActual(ports, path, plugin !== undefined);
      cell.set(withPlugin(cell.value, path, plugin));
    }),
    ignoreElements(),
  );
}

/** Emits the sockets that come, change and go. */
function changesOf(ports: Ports, sockets: PluginSockets): Observable<SocketChange> {
  const { clock, telemetry } = ports;
  const hints$ = defer(() => sockets.changes$).pipe(
    retryWithBackoff(WATCH_BACKOFF, ports, ({ error, delayMs }) =>
      telemetry.log.warn("The watch of the plugins' sockets broke", { error, delayMs }),
    ),
  );
  const listing = () =>
    sockets.list().pipe(
      deadline(LISTING_DEADLINE_MS, clock),
      catchError((thrown: unknown) => {
        telemetry.log.warn("Failed to list the plugins' sockets", { error: toKubeletError(thrown) });
        return EMPTY;
      }),
    );
  return merge(
    hints$,
    pollAfter(clock, RESYNC_MS, () => of(undefined)),
  ).pipe(
    conflateMap(listing),
    scan((followed, listed) => {
      const next = followSockets(followed, listed);
      if (next.ignored > 0 && next.ignored !== followed.ignored) {
        telemetry.log.error("Too many sockets of plugins: some are ignored", { ignored: next.ignored });
      }
      return next;
    }, NO_SOCKETS),
    eachOf(({ changes }) => changes),
  );
}

const wordsOf = ({ type, name, socket }: RegisteredPlugin) => ({ type, name, socket: socket.path });

function withPlugin(plugins: RegisteredPlugins, path: string, plugin: RegisteredPlugin | undefined): RegisteredPlugins {
  if (plugin === undefined && !plugins.has(path)) return plugins;
  const next = new Map(plugins);
  if (plugin === undefined) next.delete(path);
  else next.set(path, plugin);
  return next;
}

function countDesired({ telemetry: { metrics } }: Ports, { path, socket }: SocketChange): void {
  const labels = { socket_path: path, state: "desired_state_of_world" };
  if (socket === undefined) metrics.drop("plugin_manager_total_plugins", labels);
  else metrics.gauge("plugin_manager_total_plugins", 1, labels);
}

function countActual({ telemetry: { metrics } }: Ports, path: string, isRegistered: boolean): void {
  const labels = { socket_path: path, state: "actual_state_of_world" };
  if (isRegistered) metrics.gauge("plugin_manager_total_plugins", 1, labels);
  else metrics.drop("plugin_manager_total_plugins", labels);
}
