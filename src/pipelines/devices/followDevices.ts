/**
 * The devices of this node, as plugins list them: the only writer of the cell `devices`. Each resource has a worker of its
 * own. Bound: MAX_DEVICE_RESOURCES workers. Upstream: pkg/kubelet/cm/devicemanager.
 *
 *     kubelet.sock, cell plugins --> registrations by resource --> worker: options, ListAndWatch --> cell devices
 */
import { defer, EMPTY, filter, map, merge, type Observable, of, switchMap, take, tap } from "rxjs";
import type { DeviceAllocations } from "../../core/device/deviceAllocations.ts";
import { registrationFault, resourceNameFault, versionFault } from "../../core/device/deviceAnswers.ts";
import {
  changedDevices,
  type DeviceChange,
  type DeviceState,
  MAX_DEVICE_RESOURCES,
} from "../../core/device/deviceState.ts";
import type { RegisteredPlugins } from "../../core/plugins/registeredPlugins.ts";
import type { RegisterRequest } from "../../gen/devicePlugin.ts";
import type { BackoffCurve } from "../../operators/backoffDelay.ts";
import { keyedWorkers } from "../../operators/keyedWorkers.ts";
import { retryWithBackoff } from "../../operators/retryWithBackoff.ts";
import type { DevicePlugins } from "../../ports/devicePlugins.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell, ReadonlyCell } from "../../state/cell.ts";
import { type PluginHandler, pluginEvents } from "../plugins/pluginHandlers.ts";
import { type Registration, resourceChanges } from "./resourceChanges.ts";
import { type RefusalReport, vendorRefusal, vendorsFirst } from "./vendorsFirst.ts";

type Ports = Pick<KubeletPorts, "clock" | "rng" | "telemetry" | "devicePlugins">;

interface Cells {
  readonly devices: Cell<DeviceState>;
  readonly devicePluginProblem: Cell<string | undefined>;
  readonly plugins: ReadonlyCell<RegisteredPlugins>;
  readonly deviceAllocations: ReadonlyCell<DeviceAllocations | undefined>;
}

const SERVER_BACKOFF: BackoffCurve = { initialMs: 200, maxMs: 30_000, jitter: 0.2 };

/** The handler of device plugins that register through the directory of plugins. */
export const devicePluginHandler: PluginHandler = {
  refusalOf: ({ name, versions }) => versionFault(versions) ?? resourceNameFault(name),
};

/** Runs while subscribed; emits the devices after each change. Never errors. */
export function followDevices(ports: Ports, cells: Cells, report: Omit<RefusalReport, "log">): Observable<DeviceState> {
  const { devicePlugins, telemetry } = ports;
  if (devicePlugins === undefined) return EMPTY;
  const { devices } = cells;
  const beside = (resource: string): string | undefined =>
    devicePlugins.builtIn?.has(resource) === true ? vendorRefusal(resource, cells.deviceAllocations.value) : undefined;
  const refusalOf = (request: RegisterRequest): string | undefined => {
    const fault = registrationFault(request) ?? beside(request.resourceName);
    if (fault === undefined) {
      telemetry.metrics.count("kubelet_device_plugin_registration_total", { resource_name: request.resourceName });
    }
    return fault ?? tooMany(request.resourceName, devices.value);
  };
  const restored$ = cells.deviceAllocations.changes$.pipe(
    filter((known) => known !== undefined),
    take(1),
  );
  return restored$.pipe(
    switchMap(({ restored }) =>
      merge(
        // Restored resources come first, so that their pods wait from the start.
        ...restored.slice(0, MAX_DEVICE_RESOURCES).map((resource) => of<Registration>({ resource, socket: undefined })),
        registrationsAt(devicePlugins, refusalOf, ports, cells.devicePluginProblem),
        registrationsOf(cells, ports).pipe(
          filter(({ resource, socket }) => socket === undefined || beside(resource) === undefined),
        ),
      ),
    ),
    keyedWorkers<Registration, string, DeviceChange>({
      key: ({ resource }) => resource,
      worker: (resource, registrations$) =>
        registrations$.pipe(
          vendorsFirst(resource, () => cells.deviceAllocations.value, { log: telemetry.log, ...report }),
          switchMap((registration) => resourceChanges(registration, devicePlugins, ports, devices)),
        ),
    }),
    map((change) => ({ before: devices.value, after: changedDevices(devices.value, change) })),
    filter(({ before, after }) => before !== after),
    tap(({ after }) => devices.set(after)),
    map(({ after }) => after),
  );
}

const tooMany = (resource: string, devices: DeviceState): string | undefined =>
  devices.has(resource) || devices.size < MAX_DEVICE_RESOURCES
    ? undefined
    : `the node has ${MAX_DEVICE_RESOURCES} resources with devices already`;

/** Emits the registrations at kubelet.sock. */
function registrationsAt(
  plugins: DevicePlugins,
  refusalOf: (request: RegisterRequest) => string | undefined,
  ports: Ports,
  problem: Cell<string | undefined>,
): Observable<Registration> {
  const { log } = ports.telemetry;
  return defer(() => plugins.serve(refusalOf)).pipe(
    tap((item) => {
      if (item.kind === "serving") problem.set(undefined);
    }),
    retryWithBackoff(SERVER_BACKOFF, ports, ({ error, delayMs }) => {
      problem.set(error.message);
      log.error("The registration service of device plugins ended", { error, delayMs });
    }),
    filter((item) => item.kind === "registered"),
    tap(({ resource, socket }) => log.info("A device plugin registers", { resource, socket })),
  );
}

/** Emits the registrations through the directory of plugins, and their ends. */
const registrationsOf = ({ plugins, devices }: Cells, { telemetry }: Ports): Observable<Registration> =>
  pluginEvents(plugins, "DevicePlugin").pipe(
    filter(({ kind, plugin: { name } }) => kind === "deregistered" || tooMany(name, devices.value) === undefined),
    map(({ kind, plugin: { name: resource, endpoint } }) => {
      if (kind === "deregistered") return { resource, socket: undefined };
      telemetry.metrics.count("kubelet_device_plugin_registration_total", { resource_name: resource });
      return { resource, socket: endpoint };
    }),
  );
