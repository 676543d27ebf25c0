/**
 * Counts the usage of directories, however long a count takes: it continues after its last client is gone. Until it
 * ends, the previous count is valid, or the partial count if that is larger. So no tree is too large to exceed its
 * limit, and none counts as empty. Owns the last counts. Bounds: one count of a directory at a time, MAX_COUNT_MS;
 * then the directory rests for RESTS times as long, which limits counting to a quarter of a core. Upstream:
 * volumeStatCalculator. Differs from upstream: upstream shows no usage of a volume, and limits none, before its first
 * count has ended.
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
  /** Owns the running counts. */
  readonly run$: Observable<never>;
  /**
   * Returns the usage of a directory, within that time; undefined if it is unknown. Does not wait for a count that
   * runs since an earlier call, and starts none without time. Never errors.
   */
  usage(path: string, patienceMs: number): Observable<DiskFigures | undefined>;
  /** Forgets directories without a recent request. */
  prune(): void;
}

type Ports = Pick<KubeletPorts, "volumeFiles" | "clock" | "telemetry">;

const MAX_COUNT_MS = 3_600_000;
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
            else telemetry.log.warn("A directory is not counted in time: what is known of it counts", { path, error });
            return of(known(path));
          }),
        );
      }),
  };
}

/** The larger of two counts; undefined without any. */
function atLeast(one: DiskFigures | undefined, other: DiskFigures | undefined): DiskFigures | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { bytes: max(one.bytes, other.bytes), inodes: max(one.inodes, other.inodes) };
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
