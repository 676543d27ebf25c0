/** Checks and sets up the kernel for pods at the start of a daemon. */
import { catchError, concat, defer, EMPTY, ignoreElements, type Observable, switchMap, tap } from "rxjs";
import type { KubeletConfiguration } from "../core/config/kubeletConfiguration.ts";
import { toKubeletError } from "../core/errors.ts";
import {
  cgroupMountFault,
  differingTunables,
  protectedDefaultsFault,
  type TunableDifference,
  tunableFaults,
  type TunableReading,
  unreadTunables,
  unsetTunablesFault,
} from "../core/node/hostRequirements.ts";
import { inSequence } from "../operators/inSequence.ts";
import type { Machine } from "../ports/host.ts";
import type { KernelTunables } from "../ports/kernelTunables.ts";
import type { Logger } from "../ports/telemetry.ts";
import type { readMountTable } from "../sinks/mounts/mountTable.ts";

/** Access to the kernel. */
export interface Kernel {
  readonly mounts: typeof readMountTable;
  readonly tunables: KernelTunables;
  /** Whether this process runs as root. */
  readonly isRoot: boolean;
}

/**
 * Completes when the node may start. Sets the tunables that differ; with `protectKernelDefaults` a differing tunable is
 * an error. Errors if cgroup controllers are not mounted, and if a tunable cannot be read or set. Upstream: setupNode of
 * container_manager_linux.go.
 *
 * Differs from upstream: without root, where upstream does not start at all, a tunable that cannot be set is a warning.
 */
export function checkKernel(
  { protectKernelDefaults }: Pick<KubeletConfiguration, "protectKernelDefaults">,
  { operatingSystem, cgroupVersion }: Pick<Machine, "operatingSystem" | "cgroupVersion">,
  log: Pick<Logger, "info" | "warn">,
  kernel: Kernel,
): Observable<never> {
  if (operatingSystem !== "linux") return EMPTY;
  const mounts$ = defer(() => kernel.mounts()).pipe(
    tap((mounts) => {
      const fault = cgroupMountFault(mounts, cgroupVersion);
      if (fault !== undefined) throw fault;
    }),
  );
  const tunables$ = kernel.tunables.read().pipe(
    switchMap((readings) => {
      if (!protectKernelDefaults) return setTunables(readings, log, kernel);
      const fault = protectedDefaultsFault(tunableFaults(readings));
      if (fault !== undefined) throw fault;
      return EMPTY;
    }),
  );
  return concat(mounts$, tunables$).pipe(ignoreElements());
}

/** Sets what differs, then fails with everything that could not be read or set. */
function setTunables(
  readings: readonly TunableReading[],
  log: Pick<Logger, "info" | "warn">,
  { tunables, isRoot }: Kernel,
): Observable<never> {
  const faults = [...unreadTunables(readings)];
  const set = ({ tunable, expected, actual }: TunableDifference): Observable<never> =>
    tunables.set(tunable, expected).pipe(
      tap({ complete: () => log.info("Set a kernel flag", { flag: tunable, value: expected, before: actual }) }),
      ignoreElements(),
      catchError((thrown: unknown) => {
        faults.push(toKubeletError(thrown).message);
        return EMPTY;
      }),
    );
  const conclude = (): Observable<never> => {
    const fault = isRoot ? unsetTunablesFault(faults) : undefined;
    if (fault !== undefined) throw fault;
    for (const text of faults)
      log.warn(`${text}: this kernel flag keeps its value, because rxlet does not run as root`);
    return EMPTY;
  };
  return concat(inSequence(differingTunables(readings), set), defer(conclude));
}
