/**
 * Keeps the logs of running containers small: a log grown too large is moved away, the runtime opens a new one, older
 * ones are compressed, the oldest removed. The container writes on meanwhile and loses nothing. Bounds: one round at a
 * time, `workers` logs at once. Counterpart: pkg/kubelet/logs/container_log_manager.go.
 * Differs from upstream: containers are those of the last inspections, so that a round costs the runtime nothing.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  from,
  ignoreElements,
  type Observable,
  of,
  switchMap,
  throwError,
} from "rxjs";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import type { LogRotation } from "../core/kubeletConfig.ts";
import { nextRotatedName, rotatedFiles, rotationPlan } from "../core/logs/logFileNames.ts";
import type { RuntimeContainer } from "../core/runtime/podRuntimeStatus.ts";
import { boundedMergeMap } from "../operators/boundedMergeMap.ts";
import { inSequence } from "../operators/inSequence.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Call } from "../ports/call.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { NodeState } from "../state/nodeState.ts";

type Ports = Pick<KubeletPorts, "clock" | "files" | "logFiles" | "runtime" | "telemetry">;

/** Looks at all logs every `periodMs`; never emits, never errors. Without a configuration logs grow as they will. */
export function logRotation(
  { statuses }: Pick<NodeState, "statuses">,
  ports: Ports,
  config: LogRotation | undefined,
): Observable<never> {
  if (config === undefined) return EMPTY;
  // Nobody writes to the log of a container that has ended.
  const running = (): readonly RuntimeContainer[] =>
    statuses.values().flatMap(({ containers }) => containers.filter((c) => c.state === "running" && c.logPath !== ""));
  const round = (): Observable<never> =>
    from(running()).pipe(
      boundedMergeMap((container) => rotateIfLarge(container, ports, config), {
        limit: config.workers,
        queueLimit: Number.POSITIVE_INFINITY,
      }),
    );
  return pollAfter(ports.clock, config.periodMs, round);
}

/** One log; a failure is left to the next round. */
function rotateIfLarge(container: RuntimeContainer, ports: Ports, config: LogRotation): Observable<never> {
  const { log, metrics } = ports.telemetry;
  const count = (result: string): void => metrics.count("rxlet_log_rotations_total", { result });
  return sizeOfLog(container, ports).pipe(
    switchMap((size) => (size < config.maxBytes ? EMPTY : rotate(container, ports, config.maxFiles))),
    switchMap(() => {
      count("ok");
      return EMPTY;
    }),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      count(error.code);
      log.error("Failed to rotate log for container", { containerID: container.id, path: container.logPath, error });
      return EMPTY;
    }),
  );
}

/** A log that is not there may have been moved by a kubelet that then ended: the runtime is asked for a new one. */
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

/** Makes room, moves the log away and has a new one opened; emits once that is done. */
function rotate({ id, logPath }: RuntimeContainer, ports: Ports, maxFiles: number): Call<void> {
  const { files, logFiles, runtime, clock } = ports;
  const cut = logPath.lastIndexOf("/");
  const directory = logPath.slice(0, cut);
  const latest = logPath.slice(cut + 1);
  const at = (name: string): string => `${directory}/${name}`;
  return files.list(directory).pipe(
    switchMap((names) => {
      const rotated = rotatedFiles(names, latest);
      const { remove, compress } = rotationPlan(rotated, maxFiles);
      const moved = at(nextRotatedName(latest, rotated.inUse, clock.wallTime()));
      const reopened$ = runtime.reopenContainerLog({ containerId: id }).pipe(
        // The runtime still writes to the file that was moved. If it opened a new one all the same, this one stays.
        catchError((thrown: unknown) => {
          const back$ = logFiles.move(moved, logPath).pipe(catchError(() => EMPTY));
          return concat(
            back$.pipe(ignoreElements()),
            throwError(() => thrown),
          );
        }),
      );
      return concat(
        inSequence(remove, (name) => files.remove(at(name))).pipe(ignoreElements()),
        inSequence(compress, (name) => logFiles.compress(at(name))).pipe(ignoreElements()),
        logFiles.move(logPath, moved).pipe(ignoreElements()),
        reopened$.pipe(ignoreElements()),
        of(undefined),
      );
    }),
  );
}
