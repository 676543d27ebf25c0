/**
 * The GPU manager: a device plugin for each vendor of GPUs inside the kubelet. It answers the calls of the device plugin port
 * in place of a plugin behind a socket, so the device manager knows no difference. Bounds: those of the GPUs.
 */
import { distinctUntilChanged, from, map, merge, type Observable, of, scan, shareReplay, switchMap, take } from "rxjs";
import { throwError } from "rxjs";
import { allocateGpus, type Gpu, GPU_VENDORS, gpuListing } from "../core/gpu/gpus.ts";
import { kubeletError } from "../core/errors.ts";
import type { ListAndWatchResponse } from "../gen/devicePlugin.ts";
import { valueOf } from "../core/result.ts";
import { sameValue } from "../core/sameValue.ts";
import type { DevicePlugins, DeviceRegistration } from "../ports/devicePlugins.ts";

/** Not a path: no plugin can have such a socket. */
const socketOf = (resource: string): string => `gpu-manager:${resource}`;

const RESOURCES: ReadonlyMap<string, string> = new Map(
  GPU_VENDORS.map(({ resource }) => [socketOf(resource), resource]),
);

/** Adds the built-in plugins to those behind sockets. `root`: prefix of the device nodes on the node. */
export function withGpuPlugins(plugins: DevicePlugins, gpus$: Observable<readonly Gpu[]>, root: string): DevicePlugins {
  const shared$ = gpus$.pipe(shareReplay({ bufferSize: 1, refCount: true }));
  return {
    builtIn: new Set(RESOURCES.values()),
    serve: (refusalOf) => merge(plugins.serve(refusalOf), registrations(shared$)),
    options: (socket) =>
      RESOURCES.has(socket)
        ? of({ preStartRequired: false, getPreferredAllocationAvailable: false })
        : plugins.options(socket),
    listAndWatch(socket) {
      const resource = RESOURCES.get(socket);
      if (resource === undefined) return plugins.listAndWatch(socket);
      return shared$.pipe(
        map((gpus) => gpuListing(gpus, resource)),
        distinctUntilChanged<ListAndWatchResponse>(sameValue),
      );
    },
    preferred: (socket, request) =>
      RESOURCES.has(socket)
        ? throwError(() => kubeletError("Unimplemented", "the GPU manager prefers no GPU"))
        : plugins.preferred(socket, request),
    allocate(socket, ids) {
      const resource = RESOURCES.get(socket);
      if (resource === undefined) return plugins.allocate(socket, ids);
      return shared$.pipe(
        take(1),
        map((gpus) => ({ containerResponses: [valueOf(allocateGpus(gpus, resource, ids, root))] })),
      );
    },
    preStart: (socket, ids) => (RESOURCES.has(socket) ? of({}) : plugins.preStart(socket, ids)),
  };
}

/** Emits a registration once the machine has a GPU of the vendor. */
const registrations = (gpus$: Observable<readonly Gpu[]>): Observable<DeviceRegistration> =>
  gpus$.pipe(
    scan<readonly Gpu[], Offer>(({ known }, gpus) => nextOffer(known, gpus), { known: new Set(), fresh: [] }),
    switchMap(({ fresh }) => from(fresh)),
    map((resource) => ({ kind: "registered", resource, socket: socketOf(resource), isBuiltIn: true })),
  );

interface Offer {
  readonly known: ReadonlySet<string>;
  readonly fresh: readonly string[];
}

function nextOffer(known: ReadonlySet<string>, gpus: readonly Gpu[]): Offer {
  const fresh = [...new Set(gpus.map(({ resource }) => resource))].filter((resource) => !known.has(resource));
  return { known: new Set([...known, ...fresh]), fresh };
}
