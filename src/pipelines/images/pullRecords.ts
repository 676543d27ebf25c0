/**
 * Which images this node pulled and who may use them: a record after each pull, a check before each use. Bounds: a record
 * for each image, those of images that are gone go within five minutes. Counterpart: pkg/kubelet/images/pullmanager.
 */
import { catchError, concat, defer, EMPTY, finalize, type Observable, of, switchMap, throwError } from "rxjs";
import type { RegistryCredential } from "../../core/image/dockerConfig.ts";
import { parseImageRef } from "../../core/image/imageRef.ts";
import * as files from "../../core/image/pulledRecord.ts";
import {
  checkWithoutCredentials,
  type CheckResult,
  type KnownPull,
  matchCredentials,
} from "../../core/image/pullVerification.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { ok, type Result } from "../../core/result.ts";
import type { Image } from "../../gen/cri.ts";
import { loadPullRecords, prunePullRecords } from "./loadPullRecords.ts";
import {
  beginPull,
  createPullRecordStore,
  endPull,
  type PullRecordPorts,
  type PullRecordStore,
  recordPull,
  told,
} from "./pullRecordStore.ts";

/** A use of a present image. */
export interface ImageUse {
  /** The image as named by the pod. */
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
  /** Forgets what has gone from the runtime, for as long as it is subscribed. Never errors. */
  prune(): Observable<never>;
  /** Whether the pod may use the image; error: its credentials cannot be read. One value. Never errors. */
  check(use: ImageUse): Observable<Result<Access>>;
  /**
   * The pull of an image, as the pod names it, with an intent on disk before it and a record after it. Errors: those of
   * the pull; ErrImagePull when the intent cannot be written.
   */
  during<T extends PulledImage>(image: string, pull$: Observable<T>): Observable<T>;
}

export type Access = "unchecked" | "accessible" | "inaccessible";

/** The result of a pull. */
export interface PulledImage {
  readonly found: Pick<Image, "id">;
  /** The credential that worked; undefined when the pull used none. */
  readonly used: RegistryCredential | undefined;
}

/** Without verification nothing is recorded, and everybody may use what is there. */
export const NO_RECORDS: PullRecords = {
  load: () => EMPTY,
  prune: () => EMPTY,
  check: () => of(ok("unchecked" as const)),
  during: (_image, pull$) => pull$,
};

/** Makes the records; `load` has to complete before the others are asked. */
export function createPullRecords(
  ports: PullRecordPorts,
  { directories, imageVerification }: Pick<KubeletConfig, "directories" | "imageVerification">,
): PullRecords {
  if (imageVerification === undefined) return NO_RECORDS;
  const store = createPullRecordStore(ports, imageVerification, directories);
  return {
    load: () => loadPullRecords(store),
    prune: () => prunePullRecords(store),
    check: (use) => {
      const again$ = defer(() => (store.broken === undefined ? EMPTY : loadPullRecords(store)));
      return concat(
        again$,
        defer(() => check(store, use)),
      );
    },
    during: (image, pull$) => concat(beginPull(store, image), pullOf(store, image, pull$)),
  };
}

/** Given up half-way, its intent stays: it may work all the same. */
const pullOf = <T extends PulledImage>(store: PullRecordStore, image: string, pull$: Observable<T>): Observable<T> =>
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
          endPull(store, image),
          throwError(() => thrown),
        );
      }),
      finalize(() => {
        if (!hasEnded) store.intents.set(image, Math.max(0, (store.intents.get(image) ?? 0) - 1));
      }),
    );
  });

/** Without its record the image still counts as pulled, by the intent. */
const keep = (store: PullRecordStore, image: string, { found, used }: PulledImage): Observable<never> =>
  concat(
    told(store, "failed to write image pulled record", { imageRef: found.id }, () =>
      recordPull(store, image, found.id, files.credentialsUsed(used)),
    ),
    defer(() => (store.records.has(found.id) ? endPull(store, image) : EMPTY)),
  );

const accessOf = (mayUse: boolean): Result<Access> => ok(mayUse ? "accessible" : "inaccessible");

function check(store: PullRecordStore, use: ImageUse): Observable<Result<Access>> {
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
              recordPull(store, image, imageRef, { kubernetesSecrets: [learned] }),
            );
      return concat(learned$, of(accessOf(match.mayUse)));
    }),
  );
}
