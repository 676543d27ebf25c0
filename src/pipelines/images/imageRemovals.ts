/**
 * Removes the images of a garbage collection: those that are too old, then as many as the image file system needs, down
 * to the low mark. Bound: one removal at a time. Upstream: freeOldImages and freeSpace. Differs from
 * upstream: measures the file system after each removal, since images share layers and their sizes do not add up.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  ignoreElements,
  map,
  type Observable,
  of,
  switchMap,
  tap,
  throwError,
} from "rxjs";
import { type KubeletError, kubeletError, toKubeletError } from "../../core/errors.ts";
import type { KubeletEvent } from "../../core/events.ts";
import {
  type GcImage,
  type ImageGcPolicy,
  imageNames,
  imagesOfPod,
  inRemovalOrder,
  isNamed,
  isTooOld,
  isTooYoung,
  spaceGoal,
  type SpaceGoal,
  tooLittleFreed,
} from "../../core/image/imageGc.ts";
import type { ImageRecord, ImageRecords } from "../../core/image/imageRecords.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { nodeEvent } from "../../core/node/nodeEvents.ts";
import type { PodRecord } from "../../core/pod/podRegistryTypes.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeView } from "../../state/nodeState.ts";

export type ImageGcPorts = Pick<
  KubeletPorts,
  "clock" | "files" | "hostUsage" | "images" | "runtime" | "telemetry" | "tracing"
>;
export type ImageGcConfig = Pick<KubeletConfig, "imageGc" | "directories" | "nodeName">;

/** Inputs of a round. */
export interface RemovalInput {
  readonly images: readonly GcImage[];
  readonly records: ImageRecords;
  /** Names of images that pods and containers used when the images were listed. */
  readonly used: ReadonlySet<string>;
  readonly policy: ImageGcPolicy;
  onRemoved(): void;
}

const isOver = ({ state }: PodRecord): boolean => state === "terminated" || state === "rejected";

/** Returns the names of the images of all pods that run or may start. */
export function namesInPods({ registry }: Pick<NodeView, "registry">): Set<string> {
  const names = new Set<string>();
  for (const record of registry.value.records.values()) {
    for (const pod of isOver(record) ? [record.successor] : [record.pod, record.successor]) {
      for (const reference of pod === undefined ? [] : imagesOfPod(pod)) {
        for (const name of imageNames(reference)) names.add(name);
      }
    }
  }
  return names;
}

/** The removals of one round. */
interface Removals {
  /** Removable images, in order. */
  readonly unused: readonly GcImage[];
  isTooOld(image: GcImage): boolean;
  isTooYoung(image: GcImage): boolean;
  readonly gone: ReadonlySet<string>;
  readonly failures: readonly KubeletError[];
  /** Emits the image once it is removed; notes a failure. */
  remove(image: GcImage, reason: "age" | "space"): Observable<GcImage>;
  /** Errors with the failures, if there are any. */
  readonly failed$: Observable<never>;
}

function removalsOf(input: RemovalInput, ports: ImageGcPorts, state: Pick<NodeView, "registry">): Removals {
  const { images, records, used, policy } = input;
  const now = ports.clock.wallTime();
  const failures: KubeletError[] = [];
  const gone = new Set<string>();
  const is = (image: GcImage, test: typeof isTooOld): boolean => {
    const record: ImageRecord | undefined = records.get(image.id);
    return record !== undefined && test(record, now, policy);
  };
  return {
    unused: inRemovalOrder(images, records, used),
    isTooOld: (image) => is(image, isTooOld),
    isTooYoung: (image) => is(image, isTooYoung),
    gone,
    failures,
    remove: (image, reason) =>
      removeImage(image, reason, ports, state).pipe(
        tap(() => {
          gone.add(image.id);
          input.onRemoved();
        }),
        catchError((thrown: unknown) => {
          failures.push(toKubeletError(thrown));
          return EMPTY;
        }),
      ),
    failed$: defer(() => (failures.length === 0 ? EMPTY : throwError(() => deletionError(failures)))),
  };
}

/** Emits events of the node. Errors: the file system cannot be measured, an image cannot be removed, or too few can. */
export function removeImages(
  input: RemovalInput,
  ports: ImageGcPorts,
  config: ImageGcConfig,
  state: Pick<NodeView, "registry">,
): Observable<KubeletEvent> {
  return defer(() => {
    const round = removalsOf(input, ports, state);
    const { unused, gone, failures, failed$ } = round;
    const old$ = inSequence(unused.filter(round.isTooOld), (image) => round.remove(image, "age")).pipe(
      ignoreElements(),
    );
    const space$ = measure(ports).pipe(
      map((space) => spaceGoal(space, input.policy)),
      switchMap((goal) => {
        const candidates = unused.filter((image) => !gone.has(image.id) && !round.isTooYoung(image));
        return freeSpace(goal, candidates, (image) => round.remove(image, "space"), failures, ports, config);
      }),
    );
    return concat(old$, space$, failed$);
  });
}

/** Removes all unused images but young ones. Errors: an image cannot be removed; the others are removed first. */
export function removeUnusedImages(
  input: RemovalInput,
  ports: ImageGcPorts,
  state: Pick<NodeView, "registry">,
): Observable<never> {
  return defer(() => {
    const { unused, isTooYoung: isKept, remove, failed$ } = removalsOf(input, ports, state);
    const old = unused.filter((image) => !isKept(image));
    return concat(inSequence(old, (image) => remove(image, "space")).pipe(ignoreElements()), failed$);
  });
}

function removeImage(
  image: GcImage,
  reason: "age" | "space",
  { images, telemetry }: ImageGcPorts,
  state: Pick<NodeView, "registry">,
): Observable<GcImage> {
  return defer(() => {
    // A pod may have arrived since the images were listed.
    if (isNamed(image, namesInPods(state))) return EMPTY;
    telemetry.log.info("Removing image to free bytes", { imageID: image.id, size: Number(image.size), reason });
    const spec = { image: image.id, annotations: {}, userSpecifiedImage: "", runtimeHandler: "", imageRef: "" };
    return images.removeImage({ image: spec }).pipe(
      map(() => {
        telemetry.metrics.count("kubelet_image_garbage_collected_total", { reason });
        return image;
      }),
    );
  });
}

const MEASURE_DEADLINE_MS = 10_000;

/** Measures the file system that holds the images. */
function measure({ images, hostUsage }: ImageGcPorts) {
  return images
    .imageFsInfo({}, { deadlineMs: MEASURE_DEADLINE_MS })
    .pipe(switchMap(({ imageFilesystems: [found] }) => hostUsage.fileSystem(found?.fsId?.mountpoint ?? "")));
}

function freeSpace(
  goal: SpaceGoal,
  candidates: readonly GcImage[],
  remove: (image: GcImage) => Observable<GcImage>,
  failures: readonly KubeletError[],
  ports: ImageGcPorts,
  { nodeName }: ImageGcConfig,
): Observable<KubeletEvent> {
  if (goal.kind === "enough") return EMPTY;
  if (goal.kind === "invalid") {
    const message = "invalid capacity 0 on image filesystem";
    return endWith(nodeEvent(nodeName, "InvalidDiskCapacity", message, "Warning"));
  }
  const { bytes, usagePercent, available } = goal;
  const overview = { usage: usagePercent, amountToFree: Number(bytes) };
  ports.telemetry.log.info("Disk usage on image filesystem is over the high threshold, trying to free bytes", overview);
  const before = available - bytes;
  let current = before;
  const removals$ = inSequence(candidates, (image) =>
    defer(() => {
      if (current >= available) return EMPTY;
      return remove(image).pipe(
        switchMap(() => measure(ports)),
        tap(({ availableBytes }) => (current = availableBytes)),
      );
    }),
  );
  return concat(
    removals$.pipe(ignoreElements()),
    defer(() => {
      if (current >= available || failures.length > 0) return EMPTY;
      const freed = current > before ? current - before : 0n;
      return endWith(nodeEvent(nodeName, "FreeDiskSpaceFailed", tooLittleFreed(goal, freed), "Warning"));
    }),
  );
}

/** Emits the event, then errors with its message. */
const endWith = (event: KubeletEvent): Observable<KubeletEvent> =>
  concat(
    of(event),
    throwError(() => kubeletError("ResourceExhausted", event.message)),
  );

/** Bound on the failures that an error names. */
const NAMED_FAILURES = 10;

function deletionError(failures: readonly KubeletError[]): KubeletError {
  const named = failures.slice(0, NAMED_FAILURES).map(({ message }) => message);
  const more = failures.length > named.length ? [`${failures.length - named.length} more`] : [];
  return kubeletError("Unknown", `errors in image deletion: ${[...named, ...more].join(", ")}`);
}
