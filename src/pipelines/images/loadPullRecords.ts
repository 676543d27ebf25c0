/**
 * Reads the image pull records of earlier kubelets at the start, and compares them with the images of the runtime,
 * then and every five minutes. Bound: one file at a time, of MAX_BYTES.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  ignoreElements,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  switchMap,
  tap,
} from "rxjs";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import { parseImageRef } from "../../core/image/imageRef.ts";
import * as files from "../../core/image/pulledRecord.ts";
import { parseInstant } from "../../core/time/civilTime.ts";
import type { Image } from "../../gen/cri.ts";
import { deadline } from "../../operators/deadline.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import {
  endPull,
  FILE_PATIENCE_MS,
  type PullRecordStore,
  RECORD_MODE,
  recordPull,
  reportCounts,
} from "./pullRecordStore.ts";

const MAX_BYTES = 1024 * 1024;
const ASIDE = ".corrupt";
/** ImageGCPeriod of upstream. */
const PRUNE_MS = 300_000;
const MS_PER_SECOND = 1000;

/** Fills the store from disk; logs unreadable records. Never errors. */
export function loadPullRecords(store: PullRecordStore): Observable<never> {
  store.broken = undefined;
  const { ports, pulledDir, pullingDir } = store;
  return concat(
    eachFile(store, pullingDir, (_name, text) => {
      const image = files.decodePullIntent(text);
      if (image !== undefined) store.intents.set(image, 0);
      return image !== undefined;
    }),
    eachFile(store, pulledDir, (name, text) => {
      const found = files.decodePulledRecord(text);
      if (found === undefined || files.pullFileName(found.imageRef) !== name) return false;
      store.records.set(found.imageRef, found);
      return true;
    }),
  ).pipe(
    catchError((thrown: unknown) => {
      store.broken = toKubeletError(thrown);
      const what = "Unable to access records about image pulls: images on the node need a pull before each use";
      ports.telemetry.log.error(what, { path: pulledDir, error: store.broken });
      return EMPTY;
    }),
    (loaded$) =>
      concat(
        loaded$,
        defer(() => settle(store)),
      ),
  );
}

/** Reads the files of a directory; sets files aside that `take` rejects, and remembers by name those set aside. */
function eachFile(
  store: PullRecordStore,
  directory: string,
  take: (name: string, text: string) => boolean,
): Observable<never> {
  const { ports, unreadable } = store;
  const fail = (name: string, error?: KubeletError): void => {
    unreadable.add(name);
    const path = `${directory}/${name}`;
    ports.telemetry.log.warn("A record of image pulls cannot be used and is put aside", { path, error });
  };
  const readOne = (name: string): Observable<unknown> => {
    if (name.endsWith(ASIDE)) unreadable.add(name.slice(0, -ASIDE.length));
    if (!files.isPullFile(name)) return EMPTY;
    const path = `${directory}/${name}`;
    return ports.files.readTail(path, MAX_BYTES).pipe(
      deadline(FILE_PATIENCE_MS, ports.clock),
      switchMap((text) => {
        if (take(name, text)) return EMPTY;
        fail(name);
        return concat(ports.files.replaceFile(path + ASIDE, text, RECORD_MODE), ports.files.remove(path));
      }),
      catchError((thrown: unknown) => {
        fail(name, toKubeletError(thrown));
        return EMPTY;
      }),
    );
  };
  return ports.files.list(directory).pipe(
    deadline(FILE_PATIENCE_MS, ports.clock),
    switchMap((names) => inSequence(names, readOne)),
    ignoreElements(),
  );
}

/** Converts pulls with an unknown outcome to records without a credential, and removes records of removed images. */
function settle(store: PullRecordStore): Observable<never> {
  const { ports, intents, records } = store;
  for (const name of [...records.keys()].map(files.pullFileName)) store.unreadable.delete(name);
  if (intents.size + records.size === 0) return EMPTY;
  return ports.images.listImages({ filter: undefined }).pipe(
    map(({ images }) => images),
    switchMap((images) => {
      const found = [...intents.keys()].flatMap((image) => {
        const at = images.find((each) => isNamed(each, image));
        return at === undefined ? [] : [{ image, imageRef: at.id }];
      });
      return concat(
        inSequence(found, ({ image, imageRef }) =>
          concat(recordPull(store, image, imageRef, undefined), endPull(store, image)),
        ),
        forgetGone(store, images, Number.POSITIVE_INFINITY),
      );
    }),
    ignoreElements(),
    tap({ complete: () => reportCounts(store) }),
    unreported(store),
  );
}

/**
 * Forgets the records of images removed from the runtime, while subscribed. Never errors. Upstream:
 * PruneUnknownRecords after image garbage collection, every five minutes too.
 */
export const prunePullRecords = (store: PullRecordStore): Observable<never> =>
  pollAfter(
    store.ports.clock,
    PRUNE_MS,
    () => {
      const { records, ports } = store;
      if (records.size === 0) return EMPTY;
      const askedAt = ports.clock.wallTime();
      return ports.images.listImages({ filter: undefined }).pipe(
        switchMap(({ images }) => forgetGone(store, images, askedAt)),
        tap({ complete: () => reportCounts(store) }),
        unreported(store),
      );
    },
    { immediately: false },
  );

/**
 * Drops records of removed images. A record written since the images were listed (in seconds) may belong to a newer
 * image.
 */
function forgetGone(store: PullRecordStore, images: readonly Image[], askedAt: number): Observable<never> {
  const { records, ports, pulledDir } = store;
  const until = Math.floor(askedAt / MS_PER_SECOND) * MS_PER_SECOND;
  const present = new Set(images.map(({ id }) => id));
  const gone = [...records.values()].filter(
    ({ imageRef, lastUpdatedTime }) => !present.has(imageRef) && (parseInstant(lastUpdatedTime) ?? 0) < until,
  );
  return inSequence(gone, ({ imageRef }) => {
    records.delete(imageRef);
    return store.inTurn(() => ports.files.remove(`${pulledDir}/${files.pullFileName(imageRef)}`));
  });
}

const unreported = ({ ports }: PullRecordStore): MonoTypeOperatorFunction<never> =>
  catchError((thrown: unknown) => {
    ports.telemetry.log.error("Records of image pulls were not compared with the images", {
      error: toKubeletError(thrown),
    });
    return EMPTY;
  });

/** Differs from upstream: a short name also matches its full name. */
function isNamed({ repoTags, repoDigests }: Image, image: string): boolean {
  const ref = parseImageRef(image);
  if (!ref.ok) return false;
  const { repository, tag, digest, canonical } = ref.value;
  const names = [image, canonical, digest === undefined ? `${repository}:${tag}` : `${repository}@${digest}`];
  return [...repoTags, ...repoDigests].some((name) => names.includes(name));
}
