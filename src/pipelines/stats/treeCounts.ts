/**
 * Measures the disk usage of directories. A count continues after all its callers have unsubscribed, because a large
 * tree takes longer than a caller waits. Meanwhile callers get the larger of the last and the partial count. Owns the
 * counts. Bounds: one count of a directory at a time, MAX_COUNT_MS for it, then a pause RESTS times as long. Upstream:
 * volumeStatCalculator. Differs from upstream: a partial count is reported and enforced; upstream reports and enforces
 * nothing before the first count of a volume has ended.
 */
import { catchError, defer, finalize, type Observable, of, tap } from "rxjs";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import type { MonotonicMs } from "../../core/ids.ts";
import type { DiskFigures } from "../../core/stats/podStorage.ts";
import { deadline } from "../../operators/deadline.ts";
import { createLastingRuns } from "../../operators/lastingRuns.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { VolumeUsage } from "../../ports/volumeFiles.ts";

export interface TreeCounts {
  /** Keeps counts running while subscribed. Never emits. */
  readonly run$: Observable<never>;
  /**
   * Emits the usage of a directory within `patienceMs`; undefined if nothing was counted yet. Starts a count and waits
   * for it, unless `patienceMs` is 0, a count is running or the directory is paused: then emits the known usage.
   * Never errors.
   */
  usage(path: string, patienceMs: number): Observable<DiskFigures | undefined>;
  /** Forgets directories without a request for FORGOTTEN_AFTER_MS. */
  prune(): void;
}

type Ports = Pick<KubeletPorts, "volumeFiles" | "clock" | "telemetry">;

const MAX_COUNT_MS = 3_600_000;
/** The pause after a count is this many times as long as the count: counting takes a quarter of the time at most. */
const RESTS = 3;
const FORGOTTEN_AFTER_MS = 3_600_000;

interface Count {
  last: DiskFigures | undefined;
  soFar: DiskFigures | undefined;
  restsUntil: number;
  askedAt: MonotonicMs;
}

/** Creates the counts; counts nothing before the first request. */
export function createTreeCounts({ volumeFiles, clock, telemetry }: Ports): TreeCounts {
  const counts = new Map<string, Count>();
  const countOf = (path: string): Count => {
    const known = counts.get(path);
    const askedAt = clock.monotonicMs();
    const count = known ?? { last: undefined, soFar: undefined, restsUntil: 0, askedAt };
    count.askedAt = askedAt;
    counts.set(path, count);
    return count;
  };
  const tooLong = () => kubeletError("DeadlineExceeded", `no end within ${MAX_COUNT_MS} ms`);
  const runs = createLastingRuns(
    (path: string): Observable<VolumeUsage> =>
      defer(() => {
        const count = countOf(path);
        const beganAt = clock.monotonicMs();
        return volumeFiles
          .usage(path, (counted) => {
            count.soFar = counted;
          })
          .pipe(
            deadline(MAX_COUNT_MS, clock, tooLong),
            tap((counted) => {
              count.last = counted.isPartial === true ? atLeast(count.last, counted) : counted;
            }),
            finalize(() => {
              count.soFar = undefined;
              const now = clock.monotonicMs();
              count.restsUntil = now + (now - beganAt) * RESTS;
            }),
          );
      }),
  );
  const known = (path: string): DiskFigures | undefined => {
    const { last, soFar } = countOf(path);
    return atLeast(last, soFar);
  };
  return {
    run$: runs.run$,
    prune() {
      const now = clock.monotonicMs();
      for (const [path, { askedAt }] of counts) {
        if (now - askedAt > FORGOTTEN_AFTER_MS && !runs.isRunning(path)) counts.delete(path);
      }
    },
    usage: (path, patienceMs) =>
      defer(() => {
        const count = countOf(path);
        const rests = count.last !== undefined && clock.monotonicMs() < count.restsUntil;
        if (patienceMs <= 0 || rests || runs.isRunning(path)) return of(known(path));
        return runs.join(path).pipe(
          deadline(patienceMs, clock),
          catchError((thrown: unknown) => {
            const error = toKubeletError(thrown);
            if (error.code === "NotFound") count.last = undefined;
            else
              telemetry.log.warn("A directory was not counted in time; its known usage is reported", { path, error });
            return of(known(path));
          }),
        );
      }),
  };
}

/** Returns the larger bytes and the larger inodes of two counts; undefined without any count. */
function atLeast(one: DiskFigures | undefined, other: DiskFigures | undefined): DiskFigures | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { bytes: max(one.bytes, other.bytes), inodes: max(one.inodes, other.inodes) };
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
