/**
 * Finds the file systems that hold images and the writable layers of containers. Asks the runtime until it has answered;
 * a later change takes a restart, as upstream. Upstream: HasDedicatedImageFs and HasDedicatedContainerFs of
 * pkg/kubelet/stats. Differs from upstream: the layers of every runtime may be apart from its images, not only of CRI-O.
 */
import { defer, forkJoin, map, type Observable, of, switchMap, tap, throwError } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import type { DiskLayout } from "../../core/eviction/nodeReclaim.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { Call } from "../../ports/call.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import { FIGURE_DEADLINE_MS } from "./measuredFigure.ts";

type Ports = Pick<KubeletPorts, "images" | "hostUsage">;
type Config = Pick<KubeletConfig, "directories" | "separatesDisks">;

/** Mount points, as the runtime reports them. */
export interface DiskPlaces {
  readonly images: string;
  /** The mount point of images, if the runtime reports none for containers. */
  readonly containers: string;
}

/** Places of the images and of the root directory, looked up on request until they are known. Errors: KubeletError, which is not kept. */
export interface DiskLookup {
  readonly places$: Call<DiskPlaces>;
  /** Errors also when the layers are apart from the images and the gate KubeletSeparateDiskGC is off, as upstream. */
  readonly layout$: Call<DiskLayout>;
}

/** Creates a lookup that has asked nothing. */
export function createDiskLookup({ images, hostUsage }: Ports, config: Config): DiskLookup {
  const { directories, separatesDisks } = config;
  const places$ = onceFound(
    defer(() => images.imageFsInfo({}, { deadlineMs: FIGURE_DEADLINE_MS })).pipe(
      map(({ imageFilesystems: [ofImages], containerFilesystems: [ofContainers] }) => {
        const path = ofImages?.fsId?.mountpoint ?? "";
        return { images: path, containers: ofContainers?.fsId?.mountpoint ?? path };
      }),
    ),
  );
  const layout$ = onceFound(
    places$.pipe(
      switchMap((places) =>
        forkJoin([places.images, places.containers, directories.rootDir].map((path) => hostUsage.device(path))),
      ),
      switchMap(([ofImages, ofContainers, own]) => {
        const isSplit = ofImages !== ofContainers;
        return isSplit && !separatesDisks
          ? throwError(() => kubeletError("Rejected", SPLIT_WITHOUT_GATE))
          : of({ hasImageFs: isSplit || ofImages !== own, isSplit });
      }),
    ),
  );
  return { places$, layout$ };
}

const SPLIT_WITHOUT_GATE = "KubeletSeparateDiskGC is turned off but we still have a split filesystem";

/** Keeps the first value for later subscribers. */
function onceFound<T>(call$: Observable<T>): Call<T> {
  let found: { readonly value: T } | undefined;
  return defer(() => (found === undefined ? call$.pipe(tap((value) => (found = { value }))) : of(found.value)));
}
