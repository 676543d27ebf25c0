/** Usage of the whole machine for the live view: cheap readings, which measure no pod. */
import { catchError, forkJoin, map, type Observable, of } from "rxjs";
import { rethrowInvariant } from "../core/invariant.ts";
import type { LiveUsage } from "../core/live/liveMessages.ts";
import type { Clock } from "../ports/clock.ts";
import type { HostUsage } from "../ports/host.ts";

/** The readings, the directory whose file system is shown, and the CPUs of the machine. */
export interface HostFiguresSetup {
  readonly hostUsage: Pick<HostUsage, "cpuNs" | "memory" | "fileSystem">;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly rootDir: string;
  readonly cpuCapacityMillis: () => number | undefined;
}

const NANOS_PER_MILLI_SECOND = 1_000_000;
const MILLI = 1_000;

/**
 * Returns a function that reads the usage; that of the CPU is the mean since its last call, and absent at first. A reading
 * that fails is absent. Keeps the last reading of the CPU.
 */
export function createHostFigures(setup: HostFiguresSetup): () => Observable<LiveUsage> {
  const { hostUsage, clock, rootDir, cpuCapacityMillis } = setup;
  let last: { readonly cpuNs: bigint; readonly at: number } | undefined;
  const cpuMillis = (cpuNs: bigint | undefined): number | undefined => {
    const before = last;
    const at = clock.monotonicMs();
    last = cpuNs === undefined ? undefined : { cpuNs, at };
    if (cpuNs === undefined || before === undefined || at <= before.at) return undefined;
    return (Number(cpuNs - before.cpuNs) / NANOS_PER_MILLI_SECOND / (at - before.at)) * MILLI;
  };
  return () =>
    forkJoin([orAbsent(hostUsage.cpuNs()), orAbsent(hostUsage.memory()), orAbsent(hostUsage.fileSystem(rootDir))]).pipe(
      map(([cpuNs, memory, disk]) =>
        present({
          cpuMillis: cpuMillis(cpuNs),
          cpuCapacityMillis: cpuCapacityMillis(),
          memoryBytes: memory && Number(memory.workingSetBytes),
          memoryCapacityBytes: memory && Number(memory.capacityBytes),
          diskBytes: disk && Number(disk.usedBytes),
          diskCapacityBytes: disk && Number(disk.capacityBytes),
        }),
      ),
    );
}

const orAbsent = <T>(call$: Observable<T>): Observable<T | undefined> =>
  call$.pipe(
    catchError((thrown: unknown) => {
      rethrowInvariant(thrown);
      return of(undefined);
    }),
  );

const present = (figures: Readonly<Record<keyof LiveUsage, number | undefined>>): LiveUsage =>
  Object.fromEntries(Object.entries(figures).filter(([, figure]) => figure !== undefined));
