/**
 * Devices of containers: plugins prepare them before the container is created, and the checkpoint has the outcome before
 * that. Owner of the cell `deviceAllocations`. Bounds: one request per container, one write at a time.
 * Upstream: allocateContainerResources and GetDeviceRunContainerOptions of pkg/kubelet/cm/devicemanager/manager.go.
 */
import { catchError, concat, defer, distinctUntilChanged, EMPTY, ignoreElements, map, type Observable, of } from "rxjs";
import { tap, toArray } from "rxjs";
import {
  type DeviceAllocation,
  type DeviceAllocations,
  idsByNode,
  isPrepared,
  NO_ALLOCATIONS,
  takenFromOthers,
  withDeviceAllocation,
  withoutPodDevices,
} from "../../core/device/deviceAllocations.ts";
import { allocationOfAnswer } from "../../core/device/deviceAnswers.ts";
import { encodeDeviceCheckpoint } from "../../core/device/deviceCheckpoint.ts";
import { type DeviceSettings, deviceSettings } from "../../core/device/deviceSettings.ts";
import type { DevicePluginEndpoint, DeviceState } from "../../core/device/deviceState.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import type { PodUid } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { deviceCheckpointPath } from "../../core/paths.ts";
import { valueOf } from "../../core/result.ts";
import type { ContainerDevices } from "../../core/topology/hardware.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { Call } from "../../ports/call.ts";
import type { DevicePlugins } from "../../ports/devicePlugins.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell, ReadonlyCell } from "../../state/cell.ts";
import { createCheckpointWriter, readCheckpoint } from "./checkpointFile.ts";

type Ports = Pick<KubeletPorts, "clock" | "telemetry" | "files" | "machine" | "devicePlugins">;

/** Devices as pod workers use them. */
export interface PodDevices {
  /** Reads the checkpoint of an earlier kubelet. Never errors. */
  load(): Observable<never>;
  /** Writes the checkpoint whenever a resource comes or goes. Never errors. */
  keep(): Observable<never>;
  /** Has the devices of a container prepared and emits the settings for it. Errors: why its plugin cannot. */
  provide(uid: PodUid, container: string, wanted: ContainerDevices | undefined): Call<DeviceSettings | undefined>;
  /** Forgets the devices of a pod whose containers have stopped. */
  release(uid: PodUid): Call<never>;
}

/** No plugin can register: no container has devices. */
const NO_POD_DEVICES: PodDevices = {
  load: () => EMPTY,
  keep: () => EMPTY,
  provide: () => of(undefined),
  release: () => EMPTY,
};

/** Creates the service. */
export function createPodDevices(
  ports: Ports,
  { directories }: Pick<KubeletConfig, "directories">,
  devices: ReadonlyCell<DeviceState>,
  cell: Cell<DeviceAllocations | undefined>,
): PodDevices {
  const { machine, devicePlugins } = ports;
  if (devicePlugins === undefined) return NO_POD_DEVICES;
  const path = deviceCheckpointPath(directories);
  const write = createCheckpointWriter(ports, path, () =>
    encodeDeviceCheckpoint(cell.value ?? NO_ALLOCATIONS, devices.value, machine.bootId),
  );
  const preparing: Preparing = { ports, devicePlugins, devices, cell };
  return {
    load: () =>
      readCheckpoint(ports, path).pipe(
        tap((allocations) => cell.set(allocations)),
        ignoreElements(),
      ),
    keep: () =>
      devices.changes$.pipe(
        map((state) => [...state.values()].map(({ name, presence }) => `${name} ${presence.kind === "gone"}`).join()),
        distinctUntilChanged(),
        conflateMap(() => (devices.value.size === 0 ? EMPTY : write().pipe(noted(ports)))),
      ),
    provide(uid, container, wanted) {
      if (wanted === undefined) return of(undefined);
      const entries = [...wanted];
      return defer(() => {
        const before = cell.value;
        return concat(
          inSequence(entries, (entry) => prepare({ uid, container, entry }, preparing)),
          defer(() => (cell.value === before ? EMPTY : write())),
          inSequence(entries, (entry) => preStart(entry, preparing)),
        );
      }).pipe(
        toArray(),
        map(() => settingsOf(cell.value?.pods.get(uid)?.get(container) ?? new Map(), wanted)),
      );
    },
    release: (uid) =>
      defer(() => {
        const before = cell.value ?? NO_ALLOCATIONS;
        const after = withoutPodDevices(before, uid);
        if (after === before) return EMPTY;
        cell.set(after);
        return write();
      }),
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

/** Has the plugin prepare devices, unless it did already. */
function prepare({ uid, container, entry: [resource, ids] }: Wanted, preparing: Preparing): Observable<never> {
  const { ports, devicePlugins, devices, cell } = preparing;
  const { clock, telemetry } = ports;
  return defer(() => {
    if (isPrepared(cell.value?.pods.get(uid)?.get(container)?.get(resource), ids)) return EMPTY;
    const { socket } = endpointOf(devices.value, resource);
    const startedAt = clock.monotonicMs();
    return devicePlugins.allocate(socket, ids).pipe(
      map(({ containerResponses }): DeviceAllocation => {
        const response = valueOf(allocationOfAnswer(containerResponses));
        return { ids: idsByNode(ids, devices.value.get(resource)), response, isStale: false };
      }),
      tap((allocation) => {
        const seconds = (clock.monotonicMs() - startedAt) / 1_000;
        telemetry.metrics.observe("kubelet_device_plugin_alloc_duration_seconds", seconds, { resource_name: resource });
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
    throw kubeletError("Unavailable", `the device plugin of ${resource} is away`);
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
