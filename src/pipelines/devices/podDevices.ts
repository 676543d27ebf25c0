/**
 * Devices of containers: plugins prepare them before the container is created, and the checkpoint has the outcome before
 * that. Owner of the cell `deviceAllocations`. Bounds: one request at a time per container, one write at a time.
 * Upstream: allocateContainerResources and GetDeviceRunContainerOptions of pkg/kubelet/cm/devicemanager/manager.go.
 */
import { catchError, concat, defer, distinctUntilChanged, EMPTY, ignoreElements, map, type Observable, of } from "rxjs";
import { filter, merge, repeat, switchMap, tap, throwError, toArray } from "rxjs";
import {
  abandonedPods,
  type DeviceAllocation,
  type DeviceAllocations,
  type HeldPods,
  idsByNode,
  isPrepared,
  NO_ALLOCATIONS,
  takenFromOthers,
  withDeviceAllocation,
  withoutPodDevices,
  withoutPreparedDevices,
} from "../../core/device/deviceAllocations.ts";
import { allocationOfAnswer } from "../../core/device/deviceAnswers.ts";
import { encodeDeviceCheckpoint } from "../../core/device/deviceCheckpoint.ts";
import { type DeviceSettings, deviceSettings } from "../../core/device/deviceSettings.ts";
import { ALLOCATION_MS, pluginTimeout, PREFERENCE_MS } from "../../core/device/pluginDeadlines.ts";
import { type DevicePluginEndpoint, type DeviceState, pluginDue } from "../../core/device/deviceState.ts";
import type { AwaitedPlugin } from "../../core/pod/registryPreparation.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import type { PodUid } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { deviceCheckpointPath } from "../../core/paths.ts";
import { valueOf } from "../../core/result.ts";
import type { DeviceQuestion } from "../../core/topology/deviceQuestion.ts";
import type { ContainerDevices, PodHardware } from "../../core/topology/hardware.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { deadline } from "../../operators/deadline.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { Call } from "../../ports/call.ts";
import type { DevicePlugins } from "../../ports/devicePlugins.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell, ReadonlyCell } from "../../state/cell.ts";
import { createCheckpointWriter, readCheckpoint } from "./checkpointFile.ts";

type Ports = Pick<KubeletPorts, "clock" | "telemetry" | "files" | "machine" | "devicePlugins">;

/** Reason of the error of a plugin that is away, so that it was not called. */
export const PLUGIN_AWAY = "DevicePluginAway";

/** Delay before a failed write is repeated; a change may repeat it earlier. */
const WRITE_AGAIN_MS = 10_000;

/** Devices as admission and pod workers use them. */
export interface PodDevices {
  /** Reads the checkpoint of an earlier kubelet. Never errors. */
  load(): Observable<never>;
  /**
   * Writes the checkpoint whenever a resource comes or goes, and later again what a failed write left out; forgets pods that
   * are gone. Never errors.
   */
  keep(): Observable<never>;
  /** Asks a plugin which devices it prefers. Errors: why it does not answer, as upstream words it. */
  prefer(question: DeviceQuestion): Call<readonly string[]>;
  /** Has the devices of all containers prepared; completes once the checkpoint has them. Errors: why a plugin cannot. */
  prepare(uid: PodUid, hardware: PodHardware): Call<never>;
  /** Has the devices of a container prepared, unless they are already, and emits the settings for it. Errors: why its plugin cannot. */
  provide(uid: PodUid, container: string, wanted: ContainerDevices | undefined): Call<DeviceSettings | undefined>;
  /** Returns the first of these resources whose plugin is away but may come back; undefined if there is none. */
  awaited(resources: readonly string[]): AwaitedPlugin | undefined;
  /** Forgets what plugins have prepared for a pod that does not start now. */
  undo(uid: PodUid): Call<never>;
  /** Forgets the devices of a pod whose containers have stopped. */
  release(uid: PodUid): Call<never>;
}

/** No plugin can register: no container has devices. */
const NO_POD_DEVICES: PodDevices = {
  load: () => EMPTY,
  keep: () => EMPTY,
  prefer: () => of([]),
  prepare: () => EMPTY,
  provide: () => of(undefined),
  awaited: () => undefined,
  undo: () => EMPTY,
  release: () => EMPTY,
};

/** Creates the service. */
export function createPodDevices(
  ports: Ports,
  { directories }: Pick<KubeletConfig, "directories">,
  devices: ReadonlyCell<DeviceState>,
  cell: Cell<DeviceAllocations | undefined>,
  registry: ReadonlyCell<HeldPods>,
): PodDevices {
  const { machine, devicePlugins } = ports;
  if (devicePlugins === undefined) return NO_POD_DEVICES;
  const path = deviceCheckpointPath(directories);
  const write = createCheckpointWriter(ports, path, () =>
    encodeDeviceCheckpoint(cell.value ?? NO_ALLOCATIONS, devices.value, machine.bootId),
  );
  const preparing: Preparing = { ports, devicePlugins, devices, cell };
  const kept = createKept(cell, write, ports);
  const keepAllocations = kept.keep;
  return {
    load: () =>
      readCheckpoint(ports, path).pipe(
        tap((allocations) => {
          kept.are(allocations);
          cell.set(allocations);
        }),
        ignoreElements(),
      ),
    keep: () =>
      merge(
        devices.changes$.pipe(
          map((state) => [...state.values()].map(({ name, presence }) => `${name} ${presence.kind === "gone"}`).join()),
          distinctUntilChanged(),
          conflateMap(() => (devices.value.size === 0 ? EMPTY : write().pipe(noted(ports)))),
        ),
        registry.changes$.pipe(
          filter(() => abandonedPods(cell.value ?? NO_ALLOCATIONS, registry.value).length > 0),
          conflateMap(() =>
            kept.without(abandonedPods(cell.value ?? NO_ALLOCATIONS, registry.value)).pipe(noted(ports)),
          ),
        ),
        kept.late$,
      ),
    prefer: (question) => prefer(question, preparing),
    prepare(uid, hardware) {
      const wanted = [...hardware].flatMap(([container, { devices: own = [] }]) =>
        [...own].map((entry): Wanted => ({ uid, container, entry })),
      );
      return prepareAll(wanted, preparing, keepAllocations);
    },
    provide(uid, container, wanted) {
      if (wanted === undefined) return of(undefined);
      const entries = [...wanted];
      return concat(
        prepareAll(
          entries.map((entry) => ({ uid, container, entry })),
          preparing,
          keepAllocations,
        ),
        inSequence(entries, (entry) => preStart(entry, preparing)),
      ).pipe(
        toArray(),
        map(() => settingsOf(cell.value?.pods.get(uid)?.get(container) ?? new Map(), wanted)),
      );
    },
    awaited: (resources) => firstAway(devices.value, resources),
    undo: (uid) => kept.changed((allocations) => withoutPreparedDevices(allocations, uid), [uid]),
    release: (uid) => kept.without([uid]),
  };
}

function firstAway(devices: DeviceState, resources: readonly string[]): AwaitedPlugin | undefined {
  for (const plugin of resources) {
    const presence = devices.get(plugin)?.presence;
    if (presence?.kind === "away") return { plugin, until: pluginDue(presence.since) };
  }
  return undefined;
}

/** Keeps the allocations of the cell on disk. What a failed write left out is written by the next call. */
function createKept(cell: Cell<DeviceAllocations | undefined>, write: () => Observable<never>, ports: Ports) {
  /** The allocations on disk, unless a write has failed since. */
  let kept: DeviceAllocations | undefined;
  const keep = (): Observable<never> =>
    defer(() => {
      const now = cell.value;
      return now === kept ? EMPTY : write().pipe(tap({ complete: () => (kept = now) }));
    });
  /** Changes the devices of these pods, on disk too: a write that failed before is repeated. */
  const changed = (
    change: (allocations: DeviceAllocations) => DeviceAllocations,
    uids: readonly PodUid[],
  ): Observable<never> =>
    defer(() => {
      const before = cell.value ?? NO_ALLOCATIONS;
      const after = change(before);
      if (after !== before) cell.set(after);
      return after !== before || uids.some((uid) => kept?.pods.has(uid) === true) ? keep() : EMPTY;
    });
  return {
    /** Writes later again what a failed write left out. Never errors. */
    late$: cell.changes$.pipe(
      conflateMap(() =>
        longTimer(ports.clock, WRITE_AGAIN_MS).pipe(
          switchMap(() => keep().pipe(noted(ports))),
          repeat({ delay: () => (cell.value === kept ? EMPTY : of("again")) }),
        ),
      ),
    ),
    /** Notes what is on disk. */
    are(allocations: DeviceAllocations): void {
      kept = allocations;
    },
    /** Writes the allocations unless they are on disk. */
    keep,
    changed,
    /** Forgets the devices of these pods, on disk too. */
    without: (uids: readonly PodUid[]): Observable<never> =>
      changed((allocations) => withoutPodDevices(allocations, ...uids), uids),
  };
}

interface Preparing {
  readonly ports: Ports;
  readonly devicePlugins: DevicePlugins;
  readonly devices: ReadonlyCell<DeviceState>;
  readonly cell: Cell<DeviceAllocations | undefined>;
}

/** The devices of one resource of a container. */
interface Wanted {
  readonly uid: PodUid;
  readonly container: string;
  readonly entry: readonly [resource: string, ids: readonly string[]];
}

/** Has plugins prepare devices one after the other, as upstream does; completes once the checkpoint has them. */
const prepareAll = (
  wanted: readonly Wanted[],
  preparing: Preparing,
  keepAllocations: () => Observable<never>,
): Observable<never> =>
  concat(
    inSequence(wanted, (each) => prepare(each, preparing)),
    wanted.length === 0 ? EMPTY : keepAllocations(),
  );

/** Asks the plugin which of the available devices it prefers. */
const prefer = (
  { resource, available, mustInclude, size }: DeviceQuestion,
  { ports, devicePlugins, devices }: Preparing,
): Observable<readonly string[]> =>
  defer(() => {
    const { socket } = endpointOf(devices.value, resource);
    return devicePlugins.preferred(socket, { available, mustInclude, size });
  }).pipe(
    deadline(PREFERENCE_MS, ports.clock, pluginTimeout),
    map(({ containerResponses }) => containerResponses[0]?.deviceIDs ?? []),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      if (error.reason === PLUGIN_AWAY) return throwError(() => error);
      const message = `device plugin GetPreferredAllocation rpc failed with err: ${error.message}`;
      return throwError(() => ({ ...error, message }));
    }),
  );

/** Has the plugin prepare devices, unless it did already. */
function prepare({ uid, container, entry: [resource, ids] }: Wanted, preparing: Preparing): Observable<never> {
  const { ports, devicePlugins, devices, cell } = preparing;
  const { clock, telemetry } = ports;
  return defer(() => {
    if (isPrepared(cell.value?.pods.get(uid)?.get(container)?.get(resource), ids)) return EMPTY;
    const { socket } = endpointOf(devices.value, resource);
    const startedAt = clock.monotonicMs();
    const observe = (): void => {
      const seconds = (clock.monotonicMs() - startedAt) / 1_000;
      telemetry.metrics.observe("kubelet_device_plugin_alloc_duration_seconds", seconds, { resource_name: resource });
    };
    return devicePlugins.allocate(socket, ids).pipe(
      deadline(ALLOCATION_MS, clock, pluginTimeout),
      tap({ next: observe, error: observe }),
      map(({ containerResponses }): DeviceAllocation => {
        const response = valueOf(allocationOfAnswer(containerResponses));
        return { ids: idsByNode(ids, devices.value.get(resource)), response, isStale: false };
      }),
      tap((allocation) => {
        const others = takenFromOthers(cell.value ?? NO_ALLOCATIONS, uid, resource, ids);
        cell.set(withDeviceAllocation(others, uid, [container, resource], allocation));
      }),
      ignoreElements(),
    );
  });
}

/** Lets the plugin know that the container starts, if it wants to know. */
const preStart = ([resource, ids]: Wanted["entry"], { devicePlugins, devices }: Preparing): Observable<unknown> =>
  defer(() => {
    const endpoint = devices.value.get(resource)?.endpoint;
    return endpoint?.preStartRequired === true ? devicePlugins.preStart(endpoint.socket, ids) : EMPTY;
  });

function settingsOf(prepared: ReadonlyMap<string, DeviceAllocation>, wanted: ContainerDevices): DeviceSettings {
  const own = [...wanted.keys()].flatMap((resource) => {
    const allocation = prepared.get(resource);
    return allocation === undefined ? [] : [[resource, allocation.response] as const];
  });
  return deviceSettings(new Map(own));
}

function endpointOf(devices: DeviceState, resource: string): DevicePluginEndpoint {
  const { endpoint, presence } = devices.get(resource) ?? {};
  if (endpoint === undefined || presence?.kind !== "ready") {
    // A plugin that did not come back in time is no reason to wait.
    const reason = presence?.kind === "away" ? { reason: PLUGIN_AWAY } : {};
    throw kubeletError("Unavailable", `the device plugin of ${resource} is away`, reason);
  }
  return endpoint;
}

/** Turns a failed write into a line. */
const noted =
  ({ telemetry }: Ports) =>
  (write$: Observable<never>): Observable<never> =>
    write$.pipe(
      catchError((thrown: unknown) => {
        telemetry.log.error("Failed to write the checkpoint of devices", { error: toKubeletError(thrown) });
        return EMPTY;
      }),
    );
