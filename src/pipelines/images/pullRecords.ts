/**
 * The images this node pulled and the pods that may use them: a record after each pull, a check before each use.
 * Bounds: a record for each image; records of removed images are dropped within five minutes. Upstream:
 * pkg/kubelet/images/pullmanager.
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
  reported,
} from "./pullRecordStore.ts";

/** A use of a present image. */
export interface ImageUse {
  /** The image as named by the pod. */
  readonly image: string;
  /** Id of the image. */
  readonly imageRef: string;
  /** Subscribed only when the check needs them. */
  readonly credentials: Observable<Result<readonly RegistryCredential[]>>;
}

/** The records of a node. */
export interface PullRecords {
  /** Loads the pulls of earlier kubelets; completes before any check. Never errors. */
  load(): Observable<never>;
  /** Forgets images removed from the runtime, while subscribed. Never errors. */
  prune(): Observable<never>;
  /**
   * Decides whether the pod may use the image; error: its credentials cannot be read. Emits one value. Never errors.
   */
  check(use: ImageUse): Observable<Result<Access>>;
  /**
   * Pulls an image, named as in the pod, with an intent on disk before the pull and a record after it. Errors: those
   * of the pull; ErrImagePull if the intent cannot be written.
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

/** Records nothing and verifies nothing: every pod may use present images. */
export const NO_RECORDS: PullRecords = {
  load: () => EMPTY,
  prune: () => EMPTY,
  check: () => of(ok("unchecked" as const)),
  during: (_image, pull$) => pull$,
};

/** Creates the records; `load` has to complete before any other call. */
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

/** An interrupted pull keeps its intent: it may succeed nevertheless. */
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
    reported(store, "failed to write image pulled record", { imageRef: found.id }, () =>
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
          : reported(store, "failed to write an image pulled record", { image, imageRef }, () =>
              recordPull(store, image, imageRef, { kubernetesSecrets: [learned] }),
            );
      return concat(learned$, of(accessOf(match.mayUse)));
    }),
  );
}
