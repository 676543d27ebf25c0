/**
 * Broken kubelets: the production kubelet behind ports that carry a bug. Each restart of the kubelet resets the bug's
 * memory.
 */
import { concat, ignoreElements, map, type Observable, of, tap } from "rxjs";
import type { PodStatus } from "../../../src/core/api.ts";
import { POD_UID_LABEL } from "../../../src/core/container/labels.ts";
import { podUid } from "../../../src/core/ids.ts";
import { podDir } from "../../../src/core/paths.ts";
import type { AssignHardware } from "../../../src/core/topology/hardware.ts";
import type { NodeHardware } from "../../../src/core/topology/nodeHardware.ts";
import type { Container } from "../../../src/gen/cri.ts";
import { createKubelet } from "../../../src/kubelet.ts";
import type { ApiServer } from "../../../src/ports/apiServer.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { ImageService, RuntimeService } from "../../../src/ports/cri.ts";
import type { CsiAddress, CsiClient } from "../../../src/ports/csiDrivers.ts";
import type { DraDriver, DraDriverMap } from "../../../src/ports/draDrivers.ts";
import type { KubeletPorts } from "../../../src/ports/kubeletPorts.ts";
import { type FaultRates, noFaults } from "../../../src/sim/faults/faultKinds.ts";
import type { CreateKubelet } from "../../../src/sim/simKubelet.ts";
import type { Workload } from "../../../src/sim/workload/workload.ts";

/** A bug and the checker it violates. */
export interface Mutant {
  /** Description of the bug, in a sentence. */
  readonly bug: string;
  /** Name of the checker that must report the bug. */
  readonly caughtBy: string;
  readonly createKubelet: CreateKubelet;
  /** Seed that is tried first, for bugs that few seeds show; default 1. */
  readonly seed?: number;
  /** Pods per run, for bugs that the default number rarely shows. */
  readonly pods?: number;
  /** Workload of a run; default `drawn`. */
  readonly workload?: Workload;
  /** Fault rates of a run, for bugs that a seed's own faults rarely show. */
  readonly faults?: FaultRates;
}

/** Creates a kubelet with some ports replaced. */
export const withPorts =
  (alter: (ports: KubeletPorts) => Partial<KubeletPorts>): CreateKubelet =>
  (config, ports) =>
    createKubelet(config, { ...ports, ...alter(ports) });

/** Creates a kubelet with some runtime requests replaced. */
export const withRuntime = (
  alter: (runtime: RuntimeService, ports: KubeletPorts) => Partial<RuntimeService>,
): CreateKubelet => withPorts((ports) => ({ runtime: { ...ports.runtime, ...alter(ports.runtime, ports) } }));

/** Creates a kubelet with other managers of hardware. */
export const withHardware =
  (alter: (hardware: NodeHardware) => Partial<NodeHardware>): CreateKubelet =>
  (config, ports) => {
    const { hardware } = config;
    return createKubelet(
      hardware === undefined ? config : { ...config, hardware: { ...hardware, ...alter(hardware) } },
      ports,
    );
  };

/** Creates a kubelet that gives out hardware in another way. */
export const withAssignment = (alter: (assign: AssignHardware) => AssignHardware): CreateKubelet =>
  withHardware(({ assign, assignWith }) => ({
    assign: alter(assign),
    assignWith: (managers) => alter(assignWith(managers)),
  }));

/** Creates a kubelet with some requests to drivers replaced. */
export const withDrivers = (alter: (driver: DraDriver, ports: KubeletPorts) => Partial<DraDriver>): CreateKubelet =>
  withPorts((ports) => {
    const { draDrivers } = ports;
    if (draDrivers === undefined) return {};
    const altered = (drivers: DraDriverMap): DraDriverMap =>
      new Map([...drivers].map(([name, driver]) => [name, { ...driver, ...alter(driver, ports) }]));
    return { draDrivers: { follow: (plugins$) => draDrivers.follow(plugins$).pipe(map(altered)) } };
  });

/** Creates a kubelet with some requests to CSI drivers replaced. */
export const withCsi = (alter: (client: CsiClient, ports: KubeletPorts) => Partial<CsiClient>): CreateKubelet =>
  withPorts((ports) => {
    const { csiDrivers } = ports;
    if (csiDrivers === undefined) return {};
    const at = (driver: CsiAddress): CsiClient => {
      const client = csiDrivers.at(driver);
      return { ...client, ...alter(client, ports) };
    };
    return { csiDrivers: { at } };
  });

/** Creates a kubelet with some image requests replaced. */
export const withImages = (alter: (images: ImageService) => Partial<ImageService>): CreateKubelet =>
  withPorts(({ images }) => ({ images: { ...images, ...alter(images) } }));

/** Creates a kubelet with its API lane for pods replaced. */
export const withPodLane = (alter: (pods: ApiServer, ports: KubeletPorts) => Partial<ApiServer>): CreateKubelet =>
  withPorts((ports) => {
    const { api } = ports;
    return api === undefined ? {} : { api: { ...api, pods: { ...api.pods, ...alter(api.pods, ports) } } };
  });

/** Creates a kubelet that reports its pods with other statuses. */
export const withStatuses =
  (alter: (status: PodStatus) => PodStatus): CreateKubelet =>
  (config, ports) => {
    const kubelet = createKubelet(config, ports);
    // A status that did not change stays the same object.
    const known = new WeakMap<PodStatus, PodStatus>();
    const altered = (status: PodStatus): PodStatus => {
      const found = known.get(status) ?? alter(status);
      known.set(status, found);
      return found;
    };
    const pods = () =>
      kubelet.queries.pods().map((pod) => (pod.status === undefined ? pod : { ...pod, status: altered(pod.status) }));
    return { ...kubelet, queries: { ...kubelet.queries, pods } };
  };

/** Fault rates of a run whose disk fills with images again and again. */
export const fullOfImages = (): FaultRates => ({ ...noFaults(), imagesPile: 60, imageLarge: 0.5, diskFills: 10 });

/** Fault rates of a run in which pods and other programs take all memory again and again. */
export const shortOfResources = (): FaultRates => ({
  ...noFaults(),
  memoryTaken: 20,
  memoryLeak: 0.5,
  diskFills: 10,
  volumeGrows: 0.3,
});

/** Returns the answer at once and makes the call `laterMs` later. */
export function answeredBefore<T>(
  call: Observable<T>,
  answer: T,
  { scheduler }: Clock,
  laterMs = 5_000,
): Observable<T> {
  scheduler.schedule(() => void call.subscribe({ error: () => {} }), laterMs);
  return of(answer);
}

/** Creates a kubelet that runs `spoil` on a pod's directory to its end before each stop of a container. */
export const beforeEachStop =
  (spoil: (directory: string, ports: KubeletPorts) => Observable<unknown>): CreateKubelet =>
  (config, ports) => {
    const { known, listContainers } = listedContainers(ports.runtime);
    const stopContainer: RuntimeService["stopContainer"] = (request, options) => {
      const uid = podUid(known.get(request.containerId)?.labels[POD_UID_LABEL] ?? "");
      const spoiled$ = spoil(podDir(config.directories, uid), ports).pipe(ignoreElements());
      return concat(spoiled$, ports.runtime.stopContainer(request, options));
    };
    return createKubelet(config, { ...ports, runtime: { ...ports.runtime, listContainers, stopContainer } });
  };

/** Wraps the listing of containers and records every listed container by ID. */
export function listedContainers(runtime: Pick<RuntimeService, "listContainers">) {
  const known = new Map<string, Container>();
  const listContainers: RuntimeService["listContainers"] = (request, options) =>
    runtime.listContainers(request, options).pipe(
      tap(({ containers }) => {
        for (const container of containers) known.set(container.id, container);
      }),
    );
  return { known, listContainers };
}
