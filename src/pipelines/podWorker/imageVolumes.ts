/**
 * The images a container mounts as volumes: pulled like its own image, with the same credentials, pace and backoff.
 * Stateless. Upstream: getImageVolumes of kuberuntime.
 */
import { defer, EMPTY, type Observable, of, switchMap, takeUntil } from "rxjs";
import type { Container, Pod } from "../../core/api.ts";
import type { KubeletError } from "../../core/errors.ts";
import type { MonotonicMs } from "../../core/ids.ts";
import { podEventObject } from "../../core/pod/podEvents.ts";
import { aborted } from "../../operators/aborted.ts";
import { type PodContext, volumesOf } from "../podContext.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";
import type { Sandbox } from "./sandbox.ts";

/** The container and pod of the images, and the continuations. */
export interface VolumeImagesTask {
  readonly context: PodContext;
  readonly pod: Pod;
  readonly container: Container;
  readonly sandbox: Sandbox;
  readonly stop: AbortSignal;
  /** Called when an image could not be pulled. */
  readonly failed: (error: KubeletError, retryAt?: MonotonicMs) => Observable<PodOutput>;
  /** Called with all references in the runtime by the name of the volume. */
  readonly ready: (images: ReadonlyMap<string, string>) => Observable<PodOutput>;
}

/** Pulls the images one after the other. Never errors. */
export function withVolumeImages(task: VolumeImagesTask): Observable<PodOutput> {
  const { context, pod, container, sandbox, stop, failed, ready } = task;
  const { metrics } = context.ports.telemetry;
  const volumes = volumesOf(context);
  const names = new Set((container.volumeMounts ?? []).map(({ name }) => name));
  const wanted = [...names].flatMap((name) => {
    const image = volumes.get(name)?.image;
    return image === undefined ? [] : [{ name, ...image }];
  });
  const images = new Map<string, string>();
  const next = (index: number): Observable<PodOutput> => {
    const volume = wanted[index];
    if (volume === undefined) return ready(images);
    if (stop.aborted) return EMPTY;
    const puller: Container = { ...container, image: volume.reference, imagePullPolicy: volume.pullPolicy };
    metrics.count("kubelet_image_volume_requested_total");
    const pulled$ = context.images
      .ensure({ pod, container: puller, sandboxConfig: sandbox.config, credentials: context.credentials(pod, puller) })
      .pipe(takeUntil(aborted(stop)));
    return pulled$.pipe(
      switchMap((step) => {
        switch (step.kind) {
          case "event":
            return of(eventOutput({ ...step.event, object: podEventObject(pod) }));
          case "failed":
            metrics.count("kubelet_image_volume_mounted_errors_total");
            return failed(step.error, step.retryAt);
          case "ready":
            metrics.count("kubelet_image_volume_mounted_succeed_total");
            images.set(volume.name, step.image.id);
            return next(index + 1);
        }
      }),
    );
  };
  return defer(() => next(0));
}
