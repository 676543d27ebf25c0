/**
 * The devices of one resource, as its plugin lists them. Bounds: MAX_LISTS lists in LISTS_WINDOW_MS, FIRST_LIST_MS for the
 * first one. Upstream: endpoint.go of pkg/kubelet/cm/devicemanager.
 */
import { catchError, concat, defer, distinctUntilChanged, map, type Observable, of, repeat, switchMap } from "rxjs";
import { throwError, timeout } from "rxjs";
import { devicesOfList } from "../../core/device/deviceAnswers.ts";
import {
  type DeviceChange,
  type DevicePluginEndpoint,
  type DeviceState,
  PLUGIN_GRACE_MS,
  pluginDue,
} from "../../core/device/deviceState.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { valueOf } from "../../core/result.ts";
import { type BackoffCurve, backoffDelay } from "../../operators/backoffDelay.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { orElse } from "../../operators/orElse.ts";
import type { DevicePlugins } from "../../ports/devicePlugins.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ReadonlyCell } from "../../state/cell.ts";

type Ports = Pick<KubeletPorts, "clock" | "rng" | "telemetry">;

/** The socket of a resource; `undefined`: its plugin was known to an earlier process, or has left. */
export interface Registration {
  readonly resource: string;
  readonly socket: string | undefined;
  /** A plugin inside the kubelet. */
  readonly isBuiltIn?: boolean;
}

const BACKOFF: BackoffCurve = { initialMs: 1_000, maxMs: 30_000, jitter: 0.2 };
/** A plugin that worked this long is called again after the shortest pause. */
const STEADY_MS = 60_000;
const FIRST_LIST_MS = 10_000;
/** A plugin that lists more often is cut off: each list is decoded and compared. */
const MAX_LISTS = 100;
const LISTS_WINDOW_MS = 10_000;

/** A list, or that there is none (any more). */
type Signal = DeviceChange | { readonly kind: "down" };

/**
 * Emits the changes of a resource. A plugin whose stream ends is away, and is called again with a growing delay. Once it has
 * been away for the grace period, the resource is gone.
 *
 *     lists      --a--b--#       --a
 *     changes    w-l--l--w---------l     l listed, w away
 *     no plugin  w---------------(5 min)---g
 *
 * Never errors.
 */
export function resourceChanges(
  { resource, socket }: Registration,
  plugins: DevicePlugins,
  ports: Ports,
  devices: ReadonlyCell<DeviceState>,
): Observable<DeviceChange> {
  const { clock, rng, telemetry } = ports;
  const away$ = defer((): Observable<DeviceChange> => {
    const at = clock.monotonicMs();
    const presence = devices.value.get(resource)?.presence;
    const leftMs = presence?.kind === "away" ? Math.max(0, pluginDue(presence.since) - at) : PLUGIN_GRACE_MS;
    return concat(
      of<DeviceChange>({ kind: "away", resource, at }),
      longTimer(clock, leftMs).pipe(map((): DeviceChange => ({ kind: "gone", resource }))),
    );
  });
  if (socket === undefined) return away$;
  return defer(() => {
    let failures = 0;
    let startedAt = clock.monotonicMs();
    const attempt$ = defer(() => {
      startedAt = clock.monotonicMs();
      return lists(resource, socket, plugins, ports);
    }).pipe(
      catchError((thrown: unknown): Observable<Signal> => {
        // A plugin that lists and fails at once fails again.
        failures = clock.monotonicMs() - startedAt >= STEADY_MS ? 1 : failures + 1;
        const error = toKubeletError(thrown);
        telemetry.log.warn("A device plugin does not list its devices", { resource, socket, error });
        return of({ kind: "down" });
      }),
    );
    const attempts$ = attempt$.pipe(repeat({ delay: () => longTimer(clock, backoffDelay(BACKOFF, failures, rng)) }));
    // Pods that ask for a new resource wait for its first list, instead of starting without devices.
    const isNew = (devices.value.get(resource)?.presence.kind ?? "gone") === "gone";
    return isNew ? concat(of<Signal>({ kind: "down" }), attempts$) : attempts$;
  }).pipe(
    distinctUntilChanged((before, now) => before.kind === "down" && now.kind === "down"),
    switchMap((signal) => (signal.kind === "down" ? away$ : of(signal))),
  );
}

/** Emits the lists of a plugin. Errors when the stream ends, or the plugin breaks a bound. */
function lists(resource: string, socket: string, plugins: DevicePlugins, { clock }: Ports): Observable<Signal> {
  const ended = () => kubeletError("Unavailable", "the device plugin ended its list of devices");
  // Upstream calls it too, and a plugin without this call has no wishes.
  const endpoint$ = defer(() => plugins.options(socket)).pipe(
    orElse(() => of({ preStartRequired: false, getPreferredAllocationAvailable: false })),
    map(
      (options): DevicePluginEndpoint => ({
        socket,
        preStartRequired: options.preStartRequired,
        prefersDevices: options.getPreferredAllocationAvailable,
      }),
    ),
  );
  return endpoint$.pipe(
    switchMap((endpoint) => {
      const recent: number[] = [];
      return concat(
        defer(() => plugins.listAndWatch(socket)),
        throwError(ended),
      ).pipe(
        timeout({
          first: FIRST_LIST_MS,
          scheduler: clock.scheduler,
          with: () =>
            throwError(() => kubeletError("DeadlineExceeded", `no list of devices within ${FIRST_LIST_MS} ms`)),
        }),
        map((list): Signal => {
          const now = clock.monotonicMs();
          recent.push(now);
          while ((recent[0] ?? now) < now - LISTS_WINDOW_MS) recent.shift();
          if (recent.length > MAX_LISTS) {
            throw kubeletError("ResourceExhausted", `more than ${MAX_LISTS} lists of devices in ${LISTS_WINDOW_MS} ms`);
          }
          return { kind: "listed", resource, endpoint, devices: valueOf(devicesOfList(list)) };
        }),
      );
    }),
  );
}
