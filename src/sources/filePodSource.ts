/**
 * Static pods, ConfigMaps, Secrets and RuntimeClasses from a manifest directory or file. Lists it at the start, at
 * every hint of a change, and at least once per resync period. core/pod/manifest/manifestFiles.ts decides from each
 * listing; the subscription owns its state. Bounds: one listing at a time, READS_AT_ONCE files at once. Upstream:
 * pkg/kubelet/config/file.go.
 */
import {
  catchError,
  concat,
  defer,
  distinctUntilChanged,
  filter,
  from,
  map,
  merge,
  type Observable,
  of,
  retry,
  Subject,
  switchMap,
  tap,
  throwError,
  toArray,
} from "rxjs";
import { kubeletError, toKubeletError, type KubeletError } from "../core/errors.ts";
import {
  applyLook,
  betweenRemakes,
  type FileRead,
  filesToRead,
  isKnownContent,
  type ManifestFiles,
  type ManifestListing,
  type ManifestLook,
  NO_MANIFEST_FILES,
  type SettleTimes,
} from "../core/pod/manifest/manifestFiles.ts";
import { manifestNote } from "../core/pod/manifest/manifestClashes.ts";
import { type ManifestReading, NO_READING, readManifest } from "../core/pod/manifest/readManifest.ts";
import type { SourceSnapshot } from "../core/pod/sourceSnapshot.ts";
import type { Digest } from "../core/pod/staticPod.ts";
import { boundedMergeMap } from "../operators/boundedMergeMap.ts";
import { conflateMap } from "../operators/conflateMap.ts";
import { deadline } from "../operators/deadline.ts";
import { inStage } from "../operators/loopStage.ts";
import { longTimer } from "../operators/longTimer.ts";
import type { Clock } from "../ports/clock.ts";
import type { ManifestDirectory } from "../ports/manifestDirectory.ts";
import { parseManifest } from "./parseManifest.ts";

export interface FilePodSourceOptions {
  /** The manifest directory or file, for messages. */
  readonly path: string;
  readonly directory: ManifestDirectory;
  readonly nodeName: string;
  /** `fileCheckFrequency` in milliseconds. */
  readonly resyncPeriodMs: number;
  readonly clock: Clock;
  readonly digest: Digest;
  /** Feature gate PreventStaticPodAPIReferences; on by default. */
  readonly preventApiReferences?: boolean;
  /** No API server: ConfigMaps and Secrets are manifests too; default true. */
  readonly standalone?: boolean;
}

/** Waits for files that may be half-written or about to return; see SettleTimes. */
const FILE_SETTLE_TIMES: SettleTimes = { contentMs: 200, removalMs: 20, longestMs: 2000, versionMs: 2000 };
const READS_AT_ONCE = 8;
/** Deadline of a call to the file system; a later one is reported as a problem and tried again at the next listing. */
const CALL_DEADLINE_MS = 10_000;

/**
 * Emits the pods of the manifests, whenever they or their problems change.
 *
 *     changes     ------x----x(bad)----------x(deleted)--
 *     snapshots   s-----s---------200ms s-----20ms s------
 *
 * Cancels: the current listing and reads. Never errors or completes; a broken watch becomes a warning in the snapshot
 * and restarts after a resync period. Bound: one listing at a time; hints meanwhile cause one more.
 */
export function filePodSource(options: FilePodSourceOptions): Observable<SourceSnapshot> {
  const { resyncPeriodMs, clock, directory } = options;
  return defer(() => {
    let files = NO_MANIFEST_FILES;
    let watchProblem: KubeletError | undefined;
    const looked$ = new Subject<number>();
    const again$ = looked$.pipe(switchMap((ms) => longTimer(clock, ms)));
    const hints$ = defer(() => directory.changes$).pipe(
      tap(() => {
        watchProblem = undefined;
      }),
      watchAgain(clock, resyncPeriodMs, (problem) => {
        watchProblem = problem;
      }),
    );
    const look = () => {
      const notes = () =>
        watchProblem === undefined ? [] : [manifestNote(options.path, watchWarning(watchProblem, resyncPeriodMs))];
      const seen = (listing: ManifestListing, reads: readonly FileRead[]): ManifestLook => {
        return { path: options.path, listing, reads, notes: notes(), now: clock.monotonicMs() };
      };
      const taken = (found: ManifestListing, reads: readonly FileRead[]) => {
        const looked = seen(found, reads);
        const stage = { kind: "manifest", text: `look at ${options.path}` } as const;
        const after = inStage(stage, () => applyLook(files, looked, FILE_SETTLE_TIMES));
        files = after.files;
        looked$.next(Math.min(resyncPeriodMs, Math.max(1, (after.wakeAt ?? Infinity) - looked.now)));
        return files.snapshot;
      };
      return listing(options).pipe(
        switchMap((found) => {
          const between = betweenRemakes(files, seen(found, []), FILE_SETTLE_TIMES);
          if (between !== undefined) files = between.files;
          const taken$ = readFiles(files, found, options).pipe(map((reads) => taken(found, reads)));
          return between === undefined ? taken$ : concat(of(between.files.snapshot), taken$);
        }),
      );
    };
    // The first listing is last: it may end synchronously, and again$ must be subscribed by then.
    return merge(again$, hints$, of(undefined)).pipe(
      conflateMap(look),
      filter((snapshot) => snapshot !== undefined),
      distinctUntilChanged(),
    );
  });
}

const watchWarning = (problem: KubeletError, resyncPeriodMs: number): string =>
  `cannot be watched (${problem.message}); it is read every ${resyncPeriodMs / 1000} s instead`;

/** Restarts an ended or failed watch after `periodMs`, with a hint, since changes may have been missed. */
function watchAgain<T>(clock: Clock, periodMs: number, onLost: (problem: KubeletError) => void) {
  return (watch$: Observable<T>): Observable<unknown> => {
    const lost$ = new Subject<void>();
    const endless$ = watch$.pipe(
      endIsFailure,
      retry({
        delay: (thrown: unknown) => {
          onLost(toKubeletError(thrown));
          lost$.next();
          return longTimer(clock, periodMs);
        },
      }),
    );
    return merge(lost$, endless$);
  };
}

const endIsFailure = <T>(watch$: Observable<T>): Observable<T> =>
  concat(
    watch$,
    throwError(() => kubeletError("Unavailable", "the watch ended")),
  );

function listing({ directory, clock, path }: FilePodSourceOptions): Observable<ManifestListing> {
  return defer(() => directory.list()).pipe(
    deadline(CALL_DEADLINE_MS, clock, () =>
      kubeletError("DeadlineExceeded", `listing ${path} took longer than ${CALL_DEADLINE_MS} ms`),
    ),
    catchError((thrown: unknown) =>
      of<ManifestListing>({ kind: "unreadable", reason: toKubeletError(thrown).message }),
    ),
  );
}

function readFiles(
  files: ManifestFiles,
  found: ManifestListing,
  options: FilePodSourceOptions,
): Observable<readonly FileRead[]> {
  const paths = filesToRead(files, found, options.clock.monotonicMs(), FILE_SETTLE_TIMES);
  if (paths.length === 0) return of([]);
  return from(paths).pipe(
    boundedMergeMap((path) => readFile(files, path, options), { limit: READS_AT_ONCE, queueLimit: paths.length }),
    toArray(),
  );
}

function readFile(files: ManifestFiles, path: string, options: FilePodSourceOptions): Observable<FileRead> {
  const { directory, clock, digest } = options;
  return defer(() => directory.read(path)).pipe(
    deadline(CALL_DEADLINE_MS, clock, () =>
      kubeletError("DeadlineExceeded", `cannot be read: no answer within ${CALL_DEADLINE_MS} ms`),
    ),
    map((bytes): FileRead => {
      const content = digest([new TextDecoder("latin1").decode(bytes)]);
      return {
        path,
        content,
        reading: isKnownContent(files, path, content) ? NO_READING : parse(bytes, path, options),
      };
    }),
    catchError((thrown: unknown) => of<FileRead>(unreadFile(path, toKubeletError(thrown)))),
  );
}

function parse(bytes: Uint8Array, path: string, options: FilePodSourceOptions): ManifestReading {
  const { nodeName, digest, clock, preventApiReferences = true, standalone = true } = options;
  const readAt = clock.wallTime();
  return inStage({ kind: "manifest", text: `manifest ${path}` }, () =>
    readManifest(parseManifest(bytes), {
      source: "file",
      origin: path,
      nodeName,
      digest,
      readAt,
      preventApiReferences,
      standalone,
    }),
  );
}

/** A file that cannot be read keeps its last good pods, unless it is gone. */
function unreadFile(path: string, problem: KubeletError): FileRead {
  if (problem.code === "NotFound") return { path, gone: true };
  const reading: ManifestReading = {
    ...NO_READING,
    problems: [{ ...manifestNote(path, problem.message), severity: "error" }],
    hasNamelessFailure: true,
  };
  return { path, content: `unread: ${problem.message}`, reading, again: true };
}
