/** Broken kubelets: the production one behind ports that carry a bug. What a bug remembers dies with each life. */
import { concat, ignoreElements, type Observable, of, tap } from "rxjs";
import { POD_UID_LABEL } from "../../../src/core/container/labels.ts";
import { podUid } from "../../../src/core/ids.ts";
import { podDir } from "../../../src/core/paths.ts";
import type { Container } from "../../../src/gen/cri.ts";
import { createKubelet } from "../../../src/kubelet.ts";
import type { ApiServer } from "../../../src/ports/apiServer.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { RuntimeService } from "../../../src/ports/cri.ts";
import type { KubeletPorts } from "../../../src/ports/kubeletPorts.ts";
import type { FaultRates } from "../../../src/sim/faults/faultKinds.ts";
import type { CreateKubelet } from "../../../src/sim/simKubelet.ts";

/** A bug and the rule it breaks. */
export interface Mutant {
  /** Description of the bug, in a sentence. */
  readonly bug: string;
  /** The checker that has to notice. */
  readonly caughtBy: string;
  readonly createKubelet: CreateKubelet;
  /** Pods of a run, where the usual few do not show the bug. */
  readonly pods?: number;
  /** Fault rates of a run, for bugs that a seed's own faults rarely show. */
  readonly faults?: FaultRates;
}

/** A kubelet some of whose ports are others. */
export const withPorts =
  (alter: (ports: KubeletPorts) => Partial<KubeletPorts>): CreateKubelet =>
  (config, ports) =>
    createKubelet(config, { ...ports, ...alter(ports) });

/** A kubelet some of whose requests to the runtime are made in another way. */
export const withRuntime = (
  alter: (runtime: RuntimeService, ports: KubeletPorts) => Partial<RuntimeService>,
): CreateKubelet => withPorts((ports) => ({ runtime: { ...ports.runtime, ...alter(ports.runtime, ports) } }));

/** A kubelet whose lane for pods is another. */
export const withPodLane = (alter: (pods: ApiServer, ports: KubeletPorts) => Partial<ApiServer>): CreateKubelet =>
  withPorts((ports) => {
    const { api } = ports;
    return api === undefined ? {} : { api: { ...api, pods: { ...api.pods, ...alter(api.pods, ports) } } };
  });

/** Says yes at once and does it a while later, whoever waits for it. */
export function answeredBefore<T>(
  call: Observable<T>,
  answer: T,
  { scheduler }: Clock,
  laterMs = 5_000,
): Observable<T> {
  scheduler.schedule(() => void call.subscribe({ error: () => {} }), laterMs);
  return of(answer);
}

/** A kubelet that does something to a pod's directory, and waits for it, before it stops each of the pod's containers. */
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

/** The listing of containers, and what it has said so far by container ID. */
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
