/**
 * The records of image pulls, in memory and on disk: the pods that may use an image, and the pulls in progress. Owner
 * of both. Bounds: a record for each image, an intent for each pull; one write at a time.
 */
import { catchError, concat, defer, EMPTY, ignoreElements, type Observable, tap } from "rxjs";
import { type KubeletError, kubeletError, toKubeletError } from "../../core/errors.ts";
import { parseImageRef } from "../../core/image/imageRef.ts";
import * as files from "../../core/image/pulledRecord.ts";
import type { ImageVerification } from "../../core/image/pullVerification.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { formatInstant } from "../../core/time/civilTime.ts";
import { createSemaphore } from "../../operators/semaphore.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";

/** Ports of the records. */
export type PullRecordPorts = Pick<KubeletPorts, "files" | "images" | "clock" | "telemetry">;

/** The records, read and written by their only owner. */
export interface PullRecordStore {
  readonly ports: PullRecordPorts;
  readonly verification: ImageVerification;
  readonly pulledDir: string;
  readonly pullingDir: string;
  readonly records: Map<string, files.ImagePulledRecord>;
  /** Number of pulls in progress by image; 0: started by an earlier kubelet. */
  readonly intents: Map<string, number>;
  /** Names of unreadable records: the credentials of their images' pulls are unknown. */
  readonly unreadable: Set<string>;
  /** Set while the records on disk cannot be read. Each check tries again, and no pod uses an image without a pull. */
  broken: KubeletError | undefined;
  /** Runs effects one at a time, in order. */
  inTurn(effect: () => Observable<unknown>): Observable<never>;
}

/** Deadline of a call to the disk. */
export const FILE_PATIENCE_MS = 5_000;
/** File mode of a record. */
export const RECORD_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

/** Creates an empty store. */
export function createPullRecordStore(
  ports: PullRecordPorts,
  verification: ImageVerification,
  { rootDir }: KubeletConfig["directories"],
): PullRecordStore {
  const gate = createSemaphore(1, { ms: FILE_PATIENCE_MS, clock: ports.clock });
  return {
    ports,
    verification,
    pulledDir: `${rootDir}/image_manager/pulled`,
    pullingDir: `${rootDir}/image_manager/pulling`,
    records: new Map(),
    intents: new Map(),
    unreadable: new Set(),
    broken: undefined,
    inTurn: (effect) => gate.run(defer(effect)).pipe(ignoreElements()),
  };
}

/** Runs an effect whose failure is only logged, as `what`. */
export function reported(
  { ports }: PullRecordStore,
  what: string,
  fields: Readonly<Record<string, unknown>>,
  effect: () => Observable<never>,
): Observable<never> {
  return defer(effect).pipe(
    catchError((thrown: unknown) => {
      ports.telemetry.log.error(what, { ...fields, error: toKubeletError(thrown) });
      return EMPTY;
    }),
  );
}

/** Writes an intent to disk before its pull. Errors: ErrImagePull. */
export const beginPull = (store: PullRecordStore, image: string): Observable<never> =>
  defer(() => {
    const { intents, pullingDir } = store;
    intents.set(image, (intents.get(image) ?? 0) + 1);
    return store
      .inTurn(() => write(store, pullingDir, files.pullFileName(image), files.encodePullIntent(image)))
      .pipe(
        tap({ complete: () => reportCounts(store) }),
        catchError((thrown: unknown) => {
          lessen(store, image);
          const error = toKubeletError(thrown);
          const what = `Failed to record image pull intent for container image "${image}"`;
          throw kubeletError(error.code, `${what}: ${error.message}`, { reason: "ErrImagePull", cause: error });
        }),
      );
  });

/** Counts the end of a pull; true if it was the last one of the image. */
function lessen({ intents }: PullRecordStore, image: string): boolean {
  const left = (intents.get(image) ?? 0) - 1;
  if (left > 0) intents.set(image, left);
  else intents.delete(image);
  return left <= 0;
}

/** Ends one pull of the image. Never errors. */
export const endPull = (store: PullRecordStore, image: string): Observable<never> =>
  reported(store, "failed to remove image pull intent", { image }, () => {
    if (!lessen(store, image)) return EMPTY;
    const path = `${store.pullingDir}/${files.pullFileName(image)}`;
    // Another pull of the image may have started meanwhile.
    const remove = (): Observable<unknown> => (store.intents.has(image) ? EMPTY : store.ports.files.remove(path));
    return store.inTurn(remove).pipe(tap({ complete: () => reportCounts(store) }));
  });

const write = ({ ports }: PullRecordStore, directory: string, name: string, content: string): Observable<unknown> =>
  concat(
    ports.files.makeDirectory(directory, DIRECTORY_MODE).pipe(ignoreElements()),
    ports.files.replaceFile(`${directory}/${name}`, content, RECORD_MODE),
  );

/** Records the pods that may use an image: on disk, then in memory. Errors: those of the files. */
export function recordPull(
  store: PullRecordStore,
  image: string,
  imageRef: string,
  credentials: files.ImagePullCredentials | undefined,
): Observable<never> {
  const ref = parseImageRef(image);
  if (!ref.ok) throw ref.error;
  const { repository } = ref.value;
  const { ports, records, pulledDir, unreadable } = store;
  return store.inTurn(() => {
    const before = records.get(imageRef);
    const now = formatInstant(ports.clock.wallTime());
    const after = files.withCredentials(before, { imageRef, repository, credentials, now });
    if (after === before) return EMPTY;
    const name = files.pullFileName(imageRef);
    return write(store, pulledDir, name, files.encodePulledRecord(after)).pipe(
      tap({
        complete: () => {
          records.set(imageRef, after);
          unreadable.delete(name);
          reportCounts(store);
        },
      }),
    );
  });
}

/** Updates the metrics of the numbers of records and intents. */
export function reportCounts({ ports, records, intents }: PullRecordStore): void {
  ports.telemetry.metrics.gauge("kubelet_imagemanager_ondisk_pulledrecords", records.size);
  ports.telemetry.metrics.gauge("kubelet_imagemanager_ondisk_pullintents", intents.size);
}
