/**
 * Which images this node pulled and who may use them. Owns the records, in memory and on disk. Bounds: a record for each
 * image, those of images that are gone go at the next start; one write at a time. Counterpart: pkg/kubelet/images/pullmanager.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  finalize,
  ignoreElements,
  map,
  type Observable,
  of,
  switchMap,
  tap,
  throwError,
} from "rxjs";
import { type KubeletError, kubeletError, toKubeletError } from "../core/errors.ts";
import type { RegistryCredential } from "../core/image/dockerConfig.ts";
import { parseImageRef } from "../core/image/imageRef.ts";
import * as files from "../core/image/pulledRecord.ts";
import {
  checkWithoutCredentials,
  type CheckResult,
  type ImageVerification,
  type KnownPull,
  matchCredentials,
} from "../core/image/pullVerification.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { ok, type Result } from "../core/result.ts";
import { formatInstant } from "../core/telemetry/civilTime.ts";
import type { Image } from "../gen/cri.ts";
import { deadline } from "../operators/deadline.ts";
import { inSequence } from "../operators/inSequence.ts";
import { createSemaphore } from "../operators/semaphore.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";

/** One use of an image that is there. */
export interface ImageUse {
  /** As the pod names it. */
  readonly image: string;
  /** Its id. */
  readonly imageRef: string;
  /** Asked for when they matter. */
  readonly credentials: Observable<Result<readonly RegistryCredential[]>>;
}

/** The records of a node. */
export interface PullRecords {
  /** Learns what earlier kubelets pulled; completes before anything is checked. Never errors. */
  load(): Observable<never>;
  /** Whether the pod may use the image; error: its credentials cannot be read. One value. Never errors. */
  check(use: ImageUse): Observable<Result<Access>>;
  /**
   * The pull of an image, as the pod names it, with an intent on disk before it and a record after it. Errors: those of
   * the pull; ErrImagePull when the intent cannot be written.
   */
  during<T extends PulledImage>(image: string, pull$: Observable<T>): Observable<T>;
}

export type Access = "unchecked" | "accessible" | "inaccessible";

/** What a pull ends with. */
export interface PulledImage {
  readonly found: Pick<Image, "id">;
  /** What it worked with; undefined: without any. */
  readonly used: RegistryCredential | undefined;
}

type Ports = Pick<KubeletPorts, "files" | "images" | "clock" | "telemetry">;

interface Store {
  readonly ports: Ports;
  readonly verification: ImageVerification;
  readonly pulledDir: string;
  readonly pullingDir: string;
  readonly records: Map<string, files.ImagePulledRecord>;
  /** Pulls under way by image; 0: begun by an earlier kubelet. */
  readonly intents: Map<string, number>;
  /** Names of records that cannot be read: their images count as pulled by nobody knows whom. */
  readonly unreadable: Set<string>;
  /** What is on disk is not known, and looked for again at each check: nobody uses an image without a pull. */
  broken: KubeletError | undefined;
  /** One at a time, in order. */
  inTurn(effect: () => Observable<unknown>): Observable<never>;
}

const MAX_BYTES = 1024 * 1024;
const PATIENCE_MS = 5_000;
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const ASIDE = ".corrupt";

/** Without verification nothing is recorded, and everybody may use what is there. */
export const NO_RECORDS: PullRecords = {
  load: () => EMPTY,
  check: () => of(ok("unchecked" as const)),
  during: (_image, pull$) => pull$,
};

/** Makes the records; `load` has to complete before the others are asked. */
export function createPullRecords(
  ports: Ports,
  { directories, imageVerification }: Pick<KubeletConfig, "directories" | "imageVerification">,
): PullRecords {
  if (imageVerification === undefined) return NO_RECORDS;
  const gate = createSemaphore(1, { ms: PATIENCE_MS, clock: ports.clock });
  const store: Store = {
    ports,
    verification: imageVerification,
    pulledDir: `${directories.rootDir}/image_manager/pulled`,
    pullingDir: `${directories.rootDir}/image_manager/pulling`,
    records: new Map(),
    intents: new Map(),
    unreadable: new Set(),
    broken: undefined,
    inTurn: (effect) => gate.run(defer(effect)).pipe(ignoreElements()),
  };
  return {
    load: () => load(store),
    check: (use) => {
      const again$ = defer(() => (store.broken === undefined ? EMPTY : load(store)));
      return concat(
        again$,
        defer(() => check(store, use)),
      );
    },
    during: (image, pull$) => concat(begin(store, image), pullOf(store, image, pull$)),
  };
}

/** Given up half-way, its intent stays: it may work all the same. */
const pullOf = <T extends PulledImage>(store: Store, image: string, pull$: Observable<T>): Observable<T> =>
  defer(() => {
    let hasEnded = false;
    return pull$.pipe(
      switchMap((pulled) => {
        hasEnded = true;
        return concat(keep(store, image, pulled), of(pulled));
      }),
      catchError((thrown: unknown) => {
        hasEnded = true;
        return concat(
          end(store, image),
          throwError(() => thrown),
        );
      }),
      finalize(() => {
        if (!hasEnded) store.intents.set(image, Math.max(0, (store.intents.get(image) ?? 0) - 1));
      }),
    );
  });

/** Without its record the image still counts as pulled, by the intent. */
const keep = (store: Store, image: string, { found, used }: PulledImage): Observable<never> =>
  concat(
    told(store, "failed to write image pulled record", { imageRef: found.id }, () =>
      record(store, image, found.id, files.credentialsUsed(used)),
    ),
    defer(() => (store.records.has(found.id) ? end(store, image) : EMPTY)),
  );

function told(
  { ports }: Store,
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

const begin = (store: Store, image: string): Observable<never> =>
  defer(() => {
    const { intents, pullingDir } = store;
    intents.set(image, (intents.get(image) ?? 0) + 1);
    return store
      .inTurn(() => write(store, pullingDir, files.pullFileName(image), files.encodePullIntent(image)))
      .pipe(
        tap({ complete: () => tellCounts(store) }),
        catchError((thrown: unknown) => {
          lessen(store, image);
          const error = toKubeletError(thrown);
          const what = `Failed to record image pull intent for container image "${image}"`;
          throw kubeletError(error.code, `${what}: ${error.message}`, { reason: "ErrImagePull", cause: error });
        }),
      );
  });

/** True for the last of those who pull it. */
function lessen({ intents }: Store, image: string): boolean {
  const left = (intents.get(image) ?? 0) - 1;
  if (left > 0) intents.set(image, left);
  else intents.delete(image);
  return left <= 0;
}

const end = (store: Store, image: string): Observable<never> =>
  told(store, "failed to remove image pull intent", { image }, () => {
    if (!lessen(store, image)) return EMPTY;
    const path = `${store.pullingDir}/${files.pullFileName(image)}`;
    // Somebody may have begun to pull it again meanwhile.
    const remove = (): Observable<unknown> => (store.intents.has(image) ? EMPTY : store.ports.files.remove(path));
    return store.inTurn(remove).pipe(tap({ complete: () => tellCounts(store) }));
  });

const write = ({ ports }: Store, directory: string, name: string, content: string): Observable<unknown> =>
  concat(
    ports.files.makeDirectory(directory, DIRECTORY_MODE).pipe(ignoreElements()),
    ports.files.replaceFile(`${directory}/${name}`, content, FILE_MODE),
  );

/** Keeps it on disk, then in memory. */
function record(
  store: Store,
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
          tellCounts(store);
        },
      }),
    );
  });
}

const accessOf = (mayUse: boolean): Result<Access> => ok(mayUse ? "accessible" : "inaccessible");

function check(store: Store, use: ImageUse): Observable<Result<Access>> {
  const { image, imageRef, credentials } = use;
  const checked = (result: CheckResult): void =>
    store.ports.telemetry.metrics.count("kubelet_imagemanager_image_mustpull_checks_total", { result });
  const ref = parseImageRef(image);
  if (!ref.ok || store.broken !== undefined) {
    checked("error");
    return of(accessOf(false));
  }
  const known: KnownPull = {
    record: store.records.get(imageRef),
    isPulled:
      store.records.has(imageRef) || store.intents.has(image) || store.unreadable.has(files.pullFileName(imageRef)),
  };
  const found = checkWithoutCredentials(store.verification, ref.value.repository, known);
  if (typeof found === "string") {
    checked(found);
    return of(accessOf(found === "credentialPolicyAllowed" || found === "credentialRecordFound"));
  }
  return credentials.pipe(
    switchMap((read) => {
      if (!read.ok) {
        checked("error");
        return of(read);
      }
      const match = matchCredentials(found, files.shownBy(read.value));
      checked(match.mayUse ? "credentialRecordFound" : "mustAuthenticate");
      const { learned } = match;
      const learned$ =
        learned === undefined
          ? EMPTY
          : told(store, "failed to write an image pulled record", { image, imageRef }, () =>
              record(store, image, imageRef, { kubernetesSecrets: [learned] }),
            );
      return concat(learned$, of(accessOf(match.mayUse)));
    }),
  );
}

function tellCounts({ ports, records, intents }: Store): void {
  ports.telemetry.metrics.gauge("kubelet_imagemanager_ondisk_pulledrecords", records.size);
  ports.telemetry.metrics.gauge("kubelet_imagemanager_ondisk_pullintents", intents.size);
}

function load(store: Store): Observable<never> {
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

/** Reads the files of a directory; what `take` refuses is put aside, and what is aside is remembered by its name. */
function eachFile(store: Store, directory: string, take: (name: string, text: string) => boolean): Observable<never> {
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
      deadline(PATIENCE_MS, ports.clock),
      switchMap((text) => {
        if (take(name, text)) return EMPTY;
        fail(name);
        return concat(ports.files.replaceFile(path + ASIDE, text, FILE_MODE), ports.files.remove(path));
      }),
      catchError((thrown: unknown) => {
        fail(name, toKubeletError(thrown));
        return EMPTY;
      }),
    );
  };
  return ports.files.list(directory).pipe(
    deadline(PATIENCE_MS, ports.clock),
    switchMap((names) => inSequence(names, readOne)),
    ignoreElements(),
  );
}

/** Pulls that ended without anybody seeing it become records of nobody, and records of images that are gone go. */
function settle(store: Store): Observable<never> {
  const { ports, intents, records, pulledDir } = store;
  for (const name of [...records.keys()].map(files.pullFileName)) store.unreadable.delete(name);
  if (intents.size + records.size === 0) return EMPTY;
  return ports.images.listImages({ filter: undefined }).pipe(
    map(({ images }) => images),
    switchMap((images) => {
      const found = [...intents.keys()].flatMap((image) => {
        const at = images.find((each) => isNamed(each, image));
        return at === undefined ? [] : [{ image, imageRef: at.id }];
      });
      const present = new Set(images.map(({ id }) => id));
      const gone = [...records.keys()].filter((imageRef) => !present.has(imageRef));
      return concat(
        inSequence(found, ({ image, imageRef }) =>
          concat(record(store, image, imageRef, undefined), end(store, image)),
        ),
        inSequence(gone, (imageRef) => {
          records.delete(imageRef);
          return store.inTurn(() => ports.files.remove(`${pulledDir}/${files.pullFileName(imageRef)}`));
        }),
      );
    }),
    ignoreElements(),
    tap({ complete: () => tellCounts(store) }),
    catchError((thrown: unknown) => {
      ports.telemetry.log.error("Records of image pulls were not compared with the images", {
        error: toKubeletError(thrown),
      });
      return EMPTY;
    }),
  );
}

/** Differs from upstream: a short name is found under its whole one too. */
function isNamed({ repoTags, repoDigests }: Image, image: string): boolean {
  const ref = parseImageRef(image);
  if (!ref.ok) return false;
  const { repository, tag, digest, canonical } = ref.value;
  const names = [image, canonical, digest === undefined ? `${repository}:${tag}` : `${repository}@${digest}`];
  return [...repoTags, ...repoDigests].some((name) => names.includes(name));
}
