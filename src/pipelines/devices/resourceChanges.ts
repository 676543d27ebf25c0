/**
 * The devices of one resource, as its plugin lists them. Bounds: MAX_LISTS lists in LISTS_WINDOW_MS, FIRST_LIST_MS for the
 * first one. Upstream: endpoint.go of pkg/kubelet/cm/devicemanager.
 */
import { catchError, concat, defer, distinctUntilChanged, map, type Observable, of, repeat } from "rxjs";
import { switchMap, takeWhile, tap, throwError, timeout } from "rxjs";
import { devicesOfList } from "../../core/device/deviceAnswers.ts";
import {
  type DeviceChange,
  type DevicePluginEndpoint,
  type DeviceState,
  PLUGIN_GRACE_MS,
  pluginDue,
} from "../../core/device/deviceState.ts";
import { type KubeletError, kubeletError, toKubeletError } from "../../core/errors.ts";
import { valueOf } from "../../core/result.ts";
import { type BackoffCurve, backoffDelay } from "../../operators/backoffDelay.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { orElse } from "../../operators/orElse.ts";
import type { DevicePlugins, RegisteredDevicePlugin } from "../../ports/devicePlugins.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ReadonlyCell } from "../../state/cell.ts";

type Ports = Pick<KubeletPorts, "clock" | "rng" | "telemetry">;

/** A plugin of a resource; without a socket it was known to an earlier process, or has left. */
export type Registration = RegisteredDevicePlugin | AbsentPlugin;

interface AbsentPlugin {
  readonly resource: string;
  readonly socket: undefined;
  readonly isBuiltIn?: undefined;
}

const BACKOFF: BackoffCurve = { initialMs: 1_000, maxMs: 30_000, jitter: 0.2 };
/** A plugin that worked this long before it was cut off is called again after the shortest pause. */
const STEADY_MS = 60_000;
const FIRST_LIST_MS = 10_000;
/** A plugin that lists more often is cut off: each list is decoded and compared. */
const MAX_LISTS = 100;
const LISTS_WINDOW_MS = 10_000;

/** A list; or the plugin has ended its stream (`left`), or broken a bound (`cutOff`). */
type Signal = DeviceChange | Ended;

interface Ended {
  readonly kind: "left" | "cutOff";
  readonly error: KubeletError;
}

const isEnded = (signal: Signal): signal is Ended => signal.kind === "left" || signal.kind === "cutOff";

/**
 * Emits the changes of a resource. A plugin whose stream ends is away until it registers again, as with upstream; only one
 * that broke a bound, and may not know that it was cut off, is called again, with a growing delay. Once a plugin has been
 * away for the grace period, the resource is gone.
 *
 *     lists      --a--b--#
 *     changes    w-l--l--w---(5 min)---g      l listed, w away, g gone
 *
 * Never errors.
 */
export function resourceChanges(
  registration: Registration,
  plugins: DevicePlugins,
  ports: Ports,
  devices: ReadonlyCell<DeviceState>,
): Observable<DeviceChange> {
  const { clock, telemetry } = ports;
  const { resource } = registration;
  const away$ = defer((): Observable<DeviceChange> => {
    const at = clock.monotonicMs();
    const presence = devices.value.get(resource)?.presence;
    const leftMs = presence?.kind === "away" ? Math.max(0, pluginDue(presence.since) - at) : PLUGIN_GRACE_MS;
    return concat(
      of<DeviceChange>({ kind: "away", resource, at }),
      longTimer(clock, leftMs).pipe(map((): DeviceChange => ({ kind: "gone", resource }))),
    );
  });
  if (registration.socket === undefined) return away$;
  const changes$ = attempts(registration, plugins, ports).pipe(
    map((signal): DeviceChange | "away" => {
      if (!isEnded(signal)) return signal;
      const { socket } = registration;
      telemetry.log.warn("A device plugin does not list its devices", { resource, socket, error: signal.error });
      return "away";
    }),
  );
  return defer(() => {
    // Pods that ask for a new resource wait for its first list, instead of starting without devices.
    const isNew = (devices.value.get(resource)?.presence.kind ?? "gone") === "gone";
    return isNew ? concat(of("away" as const), changes$) : changes$;
  }).pipe(
    distinctUntilChanged((before, now) => before === "away" && now === "away"),
    switchMap((change) => (change === "away" ? away$ : of(change))),
  );
}

/** Emits the lists of a plugin until it leaves. A built-in one cannot register again, so it is always called again. */
function attempts(plugin: RegisteredDevicePlugin, plugins: DevicePlugins, ports: Ports): Observable<Signal> {
  const { clock, rng } = ports;
  return endpointOf(plugin, plugins).pipe(
    switchMap((endpoint) => {
      let failures = 0;
      let startedAt = clock.monotonicMs();
      const attempt$ = defer(() => {
        startedAt = clock.monotonicMs();
        return lists(plugin.resource, endpoint, plugins, ports);
      }).pipe(
        catchError((thrown: unknown) => of<Signal>({ kind: "cutOff", error: toKubeletError(thrown) })),
        tap((signal) => {
          // A plugin that lists and fails at once fails again.
          if (isEnded(signal)) failures = clock.monotonicMs() - startedAt >= STEADY_MS ? 1 : failures + 1;
        }),
      );
      return attempt$.pipe(
        repeat({ delay: () => longTimer(clock, backoffDelay(BACKOFF, failures, rng)) }),
        takeWhile(({ kind }) => kind !== "left" || plugin.isBuiltIn === true, true),
      );
    }),
  );
}

/** Emits where and how a plugin is called; one that cannot say how has no wishes. */
const endpointOf = ({ socket, options }: RegisteredDevicePlugin, plugins: DevicePlugins) =>
  (options === undefined ? defer(() => plugins.options(socket)) : of(options)).pipe(
    orElse(() => of({ preStartRequired: false, getPreferredAllocationAvailable: false })),
    map(
      ({ preStartRequired, getPreferredAllocationAvailable }): DevicePluginEndpoint => ({
        socket,
        preStartRequired,
        prefersDevices: getPreferredAllocationAvailable,
      }),
    ),
  );

/** Emits the lists of a plugin, and at last that it left. Errors when the plugin breaks a bound. */
function lists(
  resource: string,
  endpoint: DevicePluginEndpoint,
  plugins: DevicePlugins,
  { clock }: Ports,
): Observable<Signal> {
  const left = (error: KubeletError) => of({ kind: "left", error } as const);
  const recent: number[] = [];
  return concat(
    defer(() => plugins.listAndWatch(endpoint.socket)),
    defer(() => left(kubeletError("Unavailable", "the device plugin ended its list of devices"))),
  ).pipe(
    catchError((thrown: unknown) => left(toKubeletError(thrown))),
    timeout({
      first: FIRST_LIST_MS,
      scheduler: clock.scheduler,
      with: () => throwError(() => kubeletError("DeadlineExceeded", `no list of devices within ${FIRST_LIST_MS} ms`)),
    }),
    map((item): Signal => {
      if ("kind" in item) return item;
      const now = clock.monotonicMs();
      recent.push(now);
      while ((recent[0] ?? now) < now - LISTS_WINDOW_MS) recent.shift();
      if (recent.length > MAX_LISTS) {
        throw kubeletError("ResourceExhausted", `more than ${MAX_LISTS} lists of devices in ${LISTS_WINDOW_MS} ms`);
      }
      return { kind: "listed", resource, endpoint, devices: valueOf(devicesOfList(item)) };
    }),
  );
}
