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
  throwIfEmpty,
} from "rxjs";
import { type KubeletError, kubeletError, toKubeletError } from "../../core/errors.ts";
import type { KubeletEvent } from "../../core/events.ts";
import { type GcImage, imageNames, isNamed } from "../../core/image/imageGc.ts";
import {
  decodeImageRecords,
  detectImages,
  encodeImageRecords,
  type ImageRecords,
} from "../../core/image/imageRecords.ts";
import { nodeEvent } from "../../core/node/nodeEvents.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import { type ImageGcConfig, type ImageGcPorts, namesInPods, removeImages } from "./imageRemovals.ts";
import type { NodeView } from "../../state/nodeState.ts";

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
}

/** Memory of the rounds. Undefined records: no kubelet of this node has kept any. */
interface Memory {
  records: ImageRecords | undefined;
  saved: string | undefined;
  /** Whether the last round failed. */
  hasFailed: boolean;
}

/** Creates the collection; without a policy it does nothing. */
export function createImageGc(
  inputs: { readonly ready$: Observable<unknown> },
  ports: ImageGcPorts,
  config: ImageGcConfig,
  state: Pick<NodeView, "registry">,
): ImageGc {
  const removed$ = new Subject<void>();
  const { imageGc: policy } = config;
  if (policy === undefined) return { events$: EMPTY, removed$ };
  const events$ = defer(() => {
    const memory: Memory = { records: undefined, saved: undefined, hasFailed: false };
    const round = (): Observable<KubeletEvent> =>
      concat(
        detect(memory, ports, state).pipe(
          switchMap((found) =>
            removeImages({ ...found, policy, onRemoved: () => removed$.next() }, ports, config, state),
          ),
          tap({ complete: () => (memory.hasFailed = false) }),
          catchError((thrown: unknown) => reportFailure(memory, toKubeletError(thrown), ports, config)),
        ),
        save(memory, ports, config),
      );
    const rounds$ = concat(load(memory, ports, config), pollAfter(ports.clock, PERIOD_MS, round));
    return inputs.ready$.pipe(switchMap(() => rounds$));
  });
  return { events$, removed$ };
}

/** The images of the runtime, their records, and the names that containers use. */
interface Detected {
  readonly images: readonly GcImage[];
  readonly records: ImageRecords;
  readonly used: ReadonlySet<string>;
}

function detect(
  memory: Memory,
  { images, runtime, clock }: ImageGcPorts,
  state: Pick<NodeView, "registry">,
): Observable<Detected> {
  const listings$ = forkJoin([images.listImages({ filter: undefined }), runtime.listContainers({ filter: undefined })]);
  return listings$.pipe(
    throwIfEmpty(() => kubeletError("Unknown", "the runtime listed no images")),
    map(([{ images: listed }, { containers }]) => {
      const used = namesInPods(state);
      for (const { imageRef, imageId, image } of containers) {
        const spec = [image?.image ?? "", image?.userSpecifiedImage ?? ""].flatMap(imageNames);
        for (const name of [imageRef, imageId, ...spec]) if (name !== "") used.add(name);
      }
      const records = detectImages(memory.records, listed, (image) => isNamed(image, used), clock.wallTime());
      memory.records = records;
      return { images: listed, records, used };
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
  return files.readTail(path, MAX_STATE_BYTES).pipe(
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
