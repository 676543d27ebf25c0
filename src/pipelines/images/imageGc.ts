/**
 * Image garbage collection: at the start and every five minutes, once the pods of all sources are known. Keeps on disk
 * when each image was last used. core/image/imageGc.ts decides, imageRemovals.ts removes. Bounds: one round at a time,
 * one removal at a time; a record per image; MAX_STATE_BYTES read. Upstream: pkg/kubelet/images/image_gc_manager.go
 * and StartGarbageCollection.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  forkJoin,
  ignoreElements,
  map,
  type Observable,
  of,
  Subject,
  switchMap,
  tap,
  throwError,
  throwIfEmpty,
} from "rxjs";
import { type KubeletError, kubeletError, toKubeletError } from "../../core/errors.ts";
import type { KubeletEvent } from "../../core/events.ts";
import { imageNames, isNamed, isNeverDue } from "../../core/image/imageGc.ts";
import {
  decodeImageRecords,
  detectImages,
  encodeImageRecords,
  type ImageRecords,
} from "../../core/image/imageRecords.ts";
import type { ImageUse } from "../../core/image/reclaimableImages.ts";
import { nodeEvent } from "../../core/node/nodeEvents.ts";
import { IMAGE_GC_SPAN } from "../../core/tracing/spanStart.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import { createSemaphore } from "../../operators/semaphore.ts";
import { traced } from "../../operators/traced.ts";
import {
  type ImageGcConfig,
  type ImageGcPorts,
  namesInPods,
  type RemovalInput,
  removeImages,
  removeUnusedImages,
} from "./imageRemovals.ts";
import type { Call } from "../../ports/call.ts";
import type { NodeView } from "../../state/nodeState.ts";
import { portsUnder } from "../portsUnder.ts";

/** ImageGCPeriod of upstream. */
const PERIOD_MS = 300_000;
/** Enough for forty thousand images. */
const MAX_STATE_BYTES = 4 * 1024 * 1024;
const STATE_MODE = 0o600;

/** Image garbage collection of a node. */
export interface ImageGc {
  /** Collects while subscribed; emits events of the node. Never errors. */
  readonly events$: Observable<KubeletEvent>;
  /** Emits after each removed image. */
  readonly removed$: Observable<void>;
  /**
   * Removes all unused images above the minimum age, after a round that runs. Errors: KubeletError when the runtime lists
   * nothing or keeps an image. Upstream: DeleteUnusedImages.
   */
  deleteUnused(): Observable<never>;
  /** Lists the images and their use; removes and records nothing. Errors: KubeletError of the runtime. */
  use(): Call<ImageUse>;
}

/** Memory of the rounds. Undefined records: no kubelet of this node has kept any. */
interface Memory {
  records: ImageRecords | undefined;
  isLoaded: boolean;
  saved: string | undefined;
  /** Whether the last round failed. */
  hasFailed: boolean;
}

/** Creates the collection, which begins once `ready$` emits. */
export function createImageGc(
  inputs: { readonly ready$: Observable<unknown> },
  ports: ImageGcPorts,
  config: ImageGcConfig,
  state: Pick<NodeView, "registry">,
): ImageGc {
  const { imageGc: policy } = config;
  const removed$ = new Subject<void>();
  const rounds = createSemaphore(1);
  const memory: Memory = { records: undefined, isLoaded: false, saved: undefined, hasFailed: false };
  const round = <T>(remove: (input: RemovalInput, under: ImageGcPorts) => Observable<T>): Observable<T> => {
    const removals = (under: ImageGcPorts): Observable<T> =>
      detect(memory, under, state).pipe(
        switchMap((found) => remove({ ...found, policy, onRemoved: () => removed$.next() }, under)),
      );
    const removals$ = traced(
      ports.tracing,
      () => IMAGE_GC_SPAN,
      (span) => defer(() => removals(portsUnder(ports, span))),
    );
    const saved$ = save(memory, ports, config);
    const failed = (thrown: unknown): Observable<never> =>
      concat(
        saved$,
        throwError(() => thrown),
      );
    return rounds.run(concat(concat(load(memory, ports, config), removals$).pipe(catchError(failed)), saved$));
  };
  const reported = (): Observable<KubeletEvent> =>
    round((input, under) => removeImages(input, under, config, state)).pipe(
      tap({ complete: () => (memory.hasFailed = false) }),
      catchError((thrown: unknown) => reportFailure(memory, toKubeletError(thrown), ports, config)),
    );
  return {
    events$: isNeverDue(policy)
      ? EMPTY
      : inputs.ready$.pipe(switchMap(() => pollAfter(ports.clock, PERIOD_MS, reported))),
    removed$,
    deleteUnused: () => round((input, under) => removeUnusedImages(input, under, state)),
    use: () => defer(() => imageUse(memory.records, ports, state)),
  };
}

const detect = (memory: Memory, ports: ImageGcPorts, state: Pick<NodeView, "registry">): Observable<ImageUse> =>
  imageUse(memory.records, ports, state).pipe(tap(({ records }) => (memory.records = records)));

function imageUse(
  known: ImageRecords | undefined,
  { images, runtime, clock }: ImageGcPorts,
  state: Pick<NodeView, "registry">,
): Observable<ImageUse> {
  const listings$ = forkJoin([images.listImages({ filter: undefined }), runtime.listContainers({ filter: undefined })]);
  return listings$.pipe(
    throwIfEmpty(() => kubeletError("Unknown", "the runtime listed no images")),
    map(([{ images: listed }, { containers }]) => {
      const used = namesInPods(state);
      for (const { imageRef, imageId, image } of containers) {
        const spec = [image?.image ?? "", image?.userSpecifiedImage ?? ""].flatMap(imageNames);
        for (const name of [imageRef, imageId, ...spec]) if (name !== "") used.add(name);
      }
      // No request could remove an image without an ID.
      const removable = listed.filter(({ id }) => id !== "");
      const records = detectImages(known, removable, (image) => isNamed(image, used), clock.wallTime());
      return { images: removable, records, used };
    }),
  );
}

/** The first failure in a row may come from a runtime that has just started: only the following ones are events. */
function reportFailure(
  memory: Memory,
  error: KubeletError,
  { telemetry }: ImageGcPorts,
  { nodeName }: ImageGcConfig,
): Observable<KubeletEvent> {
  const isRepeated = memory.hasFailed;
  memory.hasFailed = true;
  if (!isRepeated) {
    telemetry.log.error("Image garbage collection failed once. Stats initialization may not have completed yet", {
      error,
    });
    return EMPTY;
  }
  telemetry.log.error("Image garbage collection failed multiple times in a row", { error });
  return of(nodeEvent(nodeName, "ImageGCFailed", error.message, "Warning"));
}

const placeOf = ({ directories }: ImageGcConfig): string => `${directories.rootDir}/image_gc_state`;

function load(memory: Memory, { files, telemetry }: ImageGcPorts, config: ImageGcConfig): Observable<never> {
  const path = placeOf(config);
  const text$ = defer(() => (memory.isLoaded ? EMPTY : files.readTail(path, MAX_STATE_BYTES)));
  const loaded$ = text$.pipe(
    tap((text) => {
      memory.records = decodeImageRecords(text);
      if (memory.records === undefined)
        telemetry.log.warn("The state of image garbage collection is damaged", { path });
    }),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      if (error.code !== "NotFound") telemetry.log.warn("Cannot read the state of image garbage collection", { error });
      return EMPTY;
    }),
    ignoreElements(),
  );
  return concat(
    loaded$,
    defer(() => {
      memory.isLoaded = true;
      return EMPTY;
    }),
  );
}

/** A lost file costs the times of last use, so it need not survive a crash of the machine. */
const save = (memory: Memory, { files, telemetry }: ImageGcPorts, config: ImageGcConfig): Observable<never> =>
  defer(() => {
    if (memory.records === undefined) return EMPTY;
    const text = encodeImageRecords(memory.records);
    if (text === memory.saved) return EMPTY;
    return files.replaceFile(placeOf(config), text, STATE_MODE, "kubelet").pipe(
      tap({ complete: () => (memory.saved = text) }),
      catchError((thrown: unknown) => {
        telemetry.log.warn("Cannot write the state of image garbage collection", { error: toKubeletError(thrown) });
        return EMPTY;
      }),
      ignoreElements(),
    );
  });
