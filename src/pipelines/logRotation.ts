/**
 * Rotates the logs of running containers: moves a log that grew too large, has the runtime open a new one, compresses
 * older ones and removes the oldest. The container keeps writing and loses nothing. Bounds: one round of rotations
 * and one of compressions at a time, `workers` logs at once in each. Differs from upstream: containers come from the
 * last inspections, without a call to the runtime, and rotations do not wait for compressions, which a fast writer
 * would outrun. Upstream: pkg/kubelet/logs/container_log_manager.go.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  filter,
  from,
  ignoreElements,
  type Observable,
  of,
  switchMap,
  throwError,
} from "rxjs";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import type { LogRotation } from "../core/kubeletConfig.ts";
import { compressibleFiles, excessFiles, nextRotatedName } from "../core/logs/logFileNames.ts";
import type { ContainerId } from "../core/ids.ts";
import type { RuntimeContainer } from "../core/runtime/podRuntimeStatus.ts";
import { boundedMergeMap } from "../operators/boundedMergeMap.ts";
import { conflateMap } from "../operators/conflateMap.ts";
import { eachOf } from "../operators/eachOf.ts";
import { inSequence } from "../operators/inSequence.ts";
import { orElse } from "../operators/orElse.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Call } from "../ports/call.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { NodeView } from "../state/nodeState.ts";

type Ports = Pick<KubeletPorts, "clock" | "files" | "logFiles" | "runtime" | "telemetry">;

/** Checks all logs every `periodMs`; never emits, never errors. Without a configuration logs grow without limit. */
export function logRotation(
  ports: Ports,
  config: LogRotation | undefined,
  { runtimeStatuses: statuses }: Pick<NodeView, "runtimeStatuses">,
): Observable<never> {
  if (config === undefined) return EMPTY;
  // The log of an ended container no longer grows.
  const running = (): readonly RuntimeContainer[] =>
    statuses.values().flatMap(({ containers }) => containers.filter((c) => c.state === "running" && c.logPath !== ""));
  const eachBounded = (what: (container: RuntimeContainer) => Observable<never>) =>
    boundedMergeMap(what, { limit: config.workers, queueLimit: Number.POSITIVE_INFINITY });
  /** Containers whose rotated logs were compressed since their last rotation: they have none left to compress. */
  const tidy = new Set<ContainerId>();
  const rotateLarge = (containers: readonly RuntimeContainer[]): Observable<never> =>
    notSmall(containers, ports, config).pipe(
      eachBounded((container) => rotateIfLarge(container, ports, config, () => tidy.delete(container.id))),
    );
  const compressUntidy = (): Observable<never> => {
    const containers = running();
    const ids = new Set(containers.map(({ id }) => id));
    for (const id of tidy) if (!ids.has(id)) tidy.delete(id);
    return from(containers.filter(({ id }) => !tidy.has(id))).pipe(
      eachBounded((container) => {
        tidy.add(container.id);
        return compressOld(container, ports, () => tidy.delete(container.id));
      }),
    );
  };
  return pollAfter(ports.clock, config.periodMs, () => {
    const containers = running();
    return concat(rotateLarge(containers), of(containers));
  }).pipe(
    filter((containers) => containers.some(({ id }) => !tidy.has(id))),
    conflateMap(compressUntidy),
  );
}

/** Selects the logs to check one by one: a single call for all logs, since nearly all are small. */
function notSmall(
  containers: readonly RuntimeContainer[],
  { logFiles }: Ports,
  { maxBytes }: LogRotation,
): Observable<RuntimeContainer> {
  if (containers.length === 0) return EMPTY;
  const paths = containers.map(({ logPath }) => logPath);
  return logFiles.notSmaller(paths, maxBytes).pipe(
    eachOf((found) => {
      const large = new Set(found);
      return large.size === 0 ? [] : containers.filter(({ logPath }) => large.has(logPath));
    }),
  );
}

/** Rotates one log; a failure is retried in the next round. */
function rotateIfLarge(
  container: RuntimeContainer,
  ports: Ports,
  config: LogRotation,
  moved: () => void,
): Observable<never> {
  const { log, metrics } = ports.telemetry;
  const count = (result: string): void => metrics.count("rxlet_log_rotations_total", { result });
  return sizeOfLog(container, ports).pipe(
    switchMap((size) => (size < config.maxBytes ? EMPTY : rotate(container, ports, config.maxFiles))),
    switchMap(() => {
      count("ok");
      moved();
      return EMPTY;
    }),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      count(error.code);
      moved();
      log.error("Failed to rotate log for container", { containerID: container.id, path: container.logPath, error });
      return EMPTY;
    }),
  );
}

/**
 * Returns the size of a log. A missing log may have been moved by a kubelet that then ended: asks the runtime for a
 * new one.
 */
function sizeOfLog({ id, logPath }: RuntimeContainer, { logFiles, runtime }: Ports): Call<number> {
  const made$ = defer(() => logFiles.sizeOf(logPath)).pipe(
    switchMap((size) => {
      const gone = kubeletError("NotFound", `the runtime opened no log at ${logPath}`);
      return size === undefined ? throwError(() => gone) : of(size);
    }),
  );
  return logFiles.sizeOf(logPath).pipe(
    switchMap((size) => {
      if (size !== undefined) return of(size);
      return concat(runtime.reopenContainerLog({ containerId: id }).pipe(ignoreElements()), made$);
    }),
  );
}

/** Removes the oldest logs, moves the log and has the runtime open a new one; emits once that is done. */
function rotate({ id, logPath }: RuntimeContainer, ports: Ports, maxFiles: number): Call<void> {
  const { files, logFiles, runtime, clock } = ports;
  const { latest, at } = placeOf(logPath);
  return logFiles.rotatedOf(logPath).pipe(
    switchMap((rotated) => {
      const moved = at(nextRotatedName(latest, rotated.inUse, clock.wallTime()));
      const reopened$ = runtime.reopenContainerLog({ containerId: id }).pipe(
        // The runtime still writes to the moved file: move it back. If the runtime did open a new one, this one
        // stays.
        catchError((thrown: unknown) => {
          const back$ = logFiles.move(moved, logPath).pipe(orElse(() => EMPTY));
          return concat(
            back$.pipe(ignoreElements()),
            throwError(() => thrown),
          );
        }),
      );
      return concat(
        inSequence(excessFiles(rotated, maxFiles), (name) => files.remove(at(name))).pipe(ignoreElements()),
        logFiles.move(logPath, moved).pipe(ignoreElements()),
        reopened$.pipe(ignoreElements()),
        of(undefined),
      );
    }),
  );
}

/** Compresses rotated logs, and removes the leftovers of failed compressions. */
function compressOld(
  { id, logPath }: RuntimeContainer,
  { files, logFiles, telemetry }: Ports,
  failed: () => void,
): Observable<never> {
  const { at } = placeOf(logPath);
  return logFiles.rotatedOf(logPath).pipe(
    switchMap((rotated) => {
      return concat(
        inSequence(rotated.unused, (name) => files.remove(at(name))),
        inSequence(compressibleFiles(rotated), (name) => logFiles.compress(at(name))),
      );
    }),
    ignoreElements(),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      // The file was removed as one of the oldest.
      if (error.code === "NotFound") return EMPTY;
      failed();
      telemetry.log.error("Failed to compress log", { containerID: id, path: logPath, error });
      return EMPTY;
    }),
  );
}

/** Returns the name of a log in its directory, and paths beside it. */
function placeOf(logPath: string) {
  const cut = logPath.lastIndexOf("/");
  const directory = logPath.slice(0, cut);
  return { latest: logPath.slice(cut + 1), at: (name: string): string => `${directory}/${name}` };
}
