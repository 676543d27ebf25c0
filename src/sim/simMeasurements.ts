/** Observations of the figures that the kubelet is given: memory, disks and process ids, and the memory of pods. */
import { tap } from "rxjs";
import { POD_UID_LABEL } from "../core/container/labels.ts";
import type { ContainerStats } from "../gen/cri.ts";
import type { RuntimeService } from "../ports/cri.ts";
import type { HostUsage } from "../ports/host.ts";
import type { SimMeasurement, UntimedObservation } from "./simObservation.ts";

type See = (observation: UntimedObservation) => void;

/** Observes the figures of a machine. */
export function seenUsage(usage: HostUsage, see: See): HostUsage {
  const note = (measurement: SimMeasurement): void => see({ kind: "measured", measurement });
  return {
    ...usage,
    fileSystem: (path) =>
      usage.fileSystem(path).pipe(
        tap(({ availableBytes, capacityBytes, inodesFree, inodes }) =>
          note({
            what: "disk",
            path,
            availableBytes: Number(availableBytes),
            capacityBytes: Number(capacityBytes),
            inodesFree: Number(inodesFree),
            inodes: Number(inodes),
          }),
        ),
      ),
    memory: () =>
      usage.memory().pipe(
        tap(({ availableBytes, capacityBytes }) =>
          note({
            what: "memory",
            availableBytes: Number(availableBytes),
            capacityBytes: Number(capacityBytes),
          }),
        ),
      ),
    pids: () =>
      usage
        .pids()
        .pipe(tap(({ max, running }) => note({ what: "pids", available: Number(max - running), max: Number(max) }))),
  };
}

/** Observes the memory and the threads of all pods in the answers of a runtime. */
export function seenStats(runtime: RuntimeService, see: See): RuntimeService {
  const note = (stats: readonly ContainerStats[], tasks: ReadonlyMap<string, number>): void => {
    const memoryBytes = new Map<string, number>();
    for (const { attributes, memory } of stats) {
      const uid = attributes?.labels[POD_UID_LABEL] ?? "";
      memoryBytes.set(uid, (memoryBytes.get(uid) ?? 0) + Number(memory?.workingSetBytes?.value ?? 0n));
    }
    see({ kind: "measured", measurement: { what: "pods", memoryBytes, tasks } });
  };
  return {
    ...runtime,
    listContainerStats: (request, options) =>
      runtime.listContainerStats(request, options).pipe(
        tap(({ stats }) => {
          if (request.filter === undefined) note(stats, new Map());
        }),
      ),
    listPodSandboxStats: (request, options) =>
      runtime.listPodSandboxStats(request, options).pipe(
        tap(({ stats }) => {
          if (request.filter !== undefined) return;
          const tasks = new Map<string, number>();
          for (const { attributes, linux } of stats) {
            const count = linux?.process?.processCount?.value;
            if (count !== undefined) tasks.set(attributes?.metadata?.uid ?? "", Number(count));
          }
          note(
            stats.flatMap(({ linux }) => linux?.containers ?? []),
            tasks,
          );
        }),
      ),
  };
}
