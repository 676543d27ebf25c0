/**
 * When the last shutdown began and ended, as metrics and on disk for the next start. Owns the state file. Bound: 2 s for
 * each access, because a full or dead disk must not delay a shutdown. Upstream: storage.go of pkg/kubelet/nodeshutdown.
 */
import { catchError, defer, EMPTY, ignoreElements, type Observable, tap } from "rxjs";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import type { EpochMs } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { shutdownStatePath } from "../../core/paths.ts";
import {
  MAX_STATE_BYTES,
  parseShutdownState,
  type ShutdownState,
  shutdownStateText,
} from "../../core/shutdown/shutdownState.ts";
import { deadline } from "../../operators/deadline.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";

/** The steps of a record. None emits; failures are logged. */
export interface ShutdownRecord {
  /** Reads the state of an earlier process into the metrics. */
  load(): Observable<never>;
  /** A shutdown begins now. */
  begin(): Observable<never>;
  /** The shutdown has ended its pods, or is cancelled. Does nothing when that is recorded already. */
  end(): Observable<never>;
}

const ACCESS_MS = 2_000;
const NOTHING: ShutdownRecord = { load: () => EMPTY, begin: () => EMPTY, end: () => EMPTY };

/** Creates the record; without the gate GracefulNodeShutdownBasedOnPodPriority nothing is recorded. */
export function createShutdownRecord(
  { clock, files, telemetry }: Pick<KubeletPorts, "clock" | "files" | "telemetry">,
  { directories, recordsShutdowns }: Pick<KubeletConfig, "directories" | "recordsShutdowns">,
): ShutdownRecord {
  if (!recordsShutdowns) return NOTHING;
  const path = shutdownStatePath(directories);
  let state: ShutdownState = {};
  const show = ({ startedAt, endedAt }: ShutdownState): void => {
    telemetry.metrics.gauge("kubelet_graceful_shutdown_start_time_seconds", secondsOf(startedAt));
    telemetry.metrics.gauge("kubelet_graceful_shutdown_end_time_seconds", secondsOf(endedAt));
  };
  const within = <T>(access$: Observable<T>, failure: string): Observable<never> =>
    access$.pipe(
      deadline(ACCESS_MS, clock),
      ignoreElements(),
      catchError((thrown: unknown) => {
        const error = toKubeletError(thrown);
        if (error.code !== "NotFound") telemetry.log.error(failure, { error });
        return EMPTY;
      }),
    );
  const store = (next: ShutdownState): Observable<never> => {
    state = next;
    show(next);
    return within(files.replaceFile(path, shutdownStateText(next)), "Failed to store graceful shutdown state");
  };
  return {
    load: () =>
      within(
        files.readTail(path, MAX_STATE_BYTES).pipe(
          tap((text) => {
            const found = parseShutdownState(text);
            if (found === undefined) throw kubeletError("InvalidArgument", `${path} has no state of a shutdown`);
            // A shutdown may have begun meanwhile.
            if (state.startedAt === undefined) show(found);
          }),
        ),
        "Failed to load graceful shutdown state",
      ),
    begin: () => defer(() => store({ startedAt: clock.wallTime() })),
    end: () =>
      defer(() =>
        state.startedAt === undefined || state.endedAt !== undefined
          ? EMPTY
          : store({ ...state, endedAt: clock.wallTime() }),
      ),
  };
}

const MS_PER_SECOND = 1_000;
const secondsOf = (at: EpochMs | undefined): number => (at === undefined ? 0 : Math.floor(at / MS_PER_SECOND));
