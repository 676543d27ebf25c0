/**
 * Sees to it that an image is there: one shared pull per image among all who wait, paced, with backoff per pod and
 * image. Owns the pulls under way and the backoffs. Bound: `maxParallel` pulls, and those that hang beside them; backoff
 * entries of pods that have gone are pruned. Counterpart: pkg/kubelet/images image_manager.go, puller.go.
 */
import { catchError, concat, defer, finalize, map, type Observable, of, switchMap } from "rxjs";
import type { Container, Pod } from "../core/api.ts";
import { type ContainerBackoffs, NO_BACKOFFS, pruneBackoffs, registerFailure } from "../core/backoff.ts";
import { type KubeletError, toKubeletError } from "../core/errors.ts";
import { type MonotonicMs, monotonicMs, type PodUid, podUid } from "../core/ids.ts";
import {
  decidePull,
  type ImageEvent,
  imageBackoffKey,
  inspectFailure,
  type PullDecision,
  type PullPolicy,
  pulledEvent,
  pullFailedEvent,
  pullFailure,
} from "../core/image/pullDecision.ts";
import type { PullInLine } from "../core/timeline/podWaits.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { type Image, ImageSpec, type PodSandboxConfig } from "../gen/cri.ts";
import { createSemaphore } from "../operators/semaphore.ts";
import { shareByKey } from "../operators/shareByKey.ts";
import { tokenBucket } from "../operators/tokenBucket.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";

type Ports = Pick<KubeletPorts, "images" | "clock" | "telemetry">;

/**
 * A pull that takes longer makes room for the next, so that one registry that hangs does not hold up all pods.
 * Upstream's serialized pulls wait for ever.
 */
const PULL_PATIENCE_MS = 10 * 60_000;

export interface ImageRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly sandboxConfig: PodSandboxConfig;
}

/** Progress of one request; `ready` or `failed` comes last. */
export type ImageStep =
  | { readonly kind: "event"; readonly event: ImageEvent }
  | { readonly kind: "ready"; readonly image: Image }
  | { readonly kind: "failed"; readonly error: KubeletError; readonly retryAt: MonotonicMs | undefined };

export interface ImagePulls {
  /** Unsubscribing gives up the wait, and the pull itself when nobody else waits for it. Never errors. */
  ensure(request: ImageRequest): Observable<ImageStep>;
  /** Forgets the backoffs of a pod: its next pulls are not held back. */
  forget(uid: PodUid): void;
  /** Pulls under way and those waiting for their turn, in order. */
  line(): readonly PullInLine[];
}

interface Failures {
  backoffs: ContainerBackoffs;
  readonly last: Map<string, KubeletError>;
}

const failedStep = (error: KubeletError, retryAt?: MonotonicMs): ImageStep => ({ kind: "failed", error, retryAt });
const eventStep = (event: ImageEvent): ImageStep => ({ kind: "event", event });

/** Makes the node's image pulls. */
export function createImagePulls(ports: Ports, config: KubeletConfig["imagePull"]): ImagePulls {
  const failures: Failures = { backoffs: NO_BACKOFFS, last: new Map() };
  const pulls = sharedPulls(ports, config);
  return {
    line: pulls.line,
    forget: (uid) => {
      const isOthers = (key: string): boolean => !key.startsWith(imageBackoffKey(uid, ""));
      failures.backoffs = new Map([...failures.backoffs].filter(([key]) => isOthers(key)));
      for (const key of [...failures.last.keys()]) if (!isOthers(key)) failures.last.delete(key);
    },
    ensure: (request) =>
      statusOf(ports, request).pipe(
        switchMap((image) => {
          const decision = decide(request, image !== undefined, failures, ports, config);
          ports.telemetry.metrics.count("kubelet_image_manager_ensure_image_requests_total", {
            present_locally: String(image !== undefined),
            pull_policy: (request.container.imagePullPolicy ?? "").toLowerCase(),
            pull_required: String(decision.kind === "pull"),
          });
          switch (decision.kind) {
            case "present":
              return of(eventStep(decision.event), { kind: "ready", image: image as Image } as const);
            case "refuse":
              return of(eventStep(decision.event), failedStep(decision.error));
            case "wait":
              return of(eventStep(decision.event), failedStep(decision.error, decision.until));
            case "pull":
              return concat(
                of(eventStep(decision.event)),
                pullAndLook(request, pulls.join(decision.pullName, request), failures, ports, config),
              );
          }
        }),
        catchError((thrown: unknown) => {
          const { error, event } = inspectFailure(request.container.image ?? "", toKubeletError(thrown));
          return of(eventStep(event), failedStep(error));
        }),
      ),
  };
}

/** Pulls by image name, shared among waiters, paced by rate and number; each answers how long the runtime took, in ms. */
function sharedPulls({ images, clock, telemetry }: Ports, config: KubeletConfig["imagePull"]) {
  const pace = tokenBucket({ qps: config.qps, burst: config.burst, clock });
  const slots = createSemaphore(config.maxParallel, { ms: PULL_PATIENCE_MS, clock });
  /** In the order of their turns. */
  const line = new Map<string, PullInLine & { readonly sandboxConfig: PodSandboxConfig }>();
  const request = (image: string): Observable<number> =>
    defer(() => {
      const startedAt = clock.monotonicMs();
      const spec = ImageSpec.fromPartial({ image });
      const asked = line.get(image);
      if (asked !== undefined) line.set(image, { ...asked, startedAt });
      return images.pullImage({ image: spec, auth: undefined, sandboxConfig: asked?.sandboxConfig }).pipe(
        map(() => {
          const tookMs = clock.monotonicMs() - startedAt;
          telemetry.metrics.observe("kubelet_image_pull_duration_seconds", tookMs / 1000, {
            image_size_in_bytes: "N/A",
          });
          return tookMs;
        }),
      );
    });
  const runs = shareByKey<string, number>({
    start: (image) =>
      slots.run(pace.acquire().pipe(switchMap(() => request(image)))).pipe(finalize(() => void line.delete(image))),
  });
  const join = (image: string, { sandboxConfig }: ImageRequest): Observable<number> =>
    defer(() => {
      const { askedAt, startedAt } = line.get(image) ?? { askedAt: clock.monotonicMs(), startedAt: undefined };
      line.set(image, { image, askedAt, startedAt, sandboxConfig });
      return runs.join(image);
    });
  return { join, line: (): readonly PullInLine[] => [...line.values()] };
}

function statusOf({ images }: Ports, { container }: ImageRequest): Observable<Image | undefined> {
  const image = ImageSpec.fromPartial({ image: container.image ?? "" });
  return images.imageStatus({ image, verbose: false }).pipe(map((answer) => answer.image));
}

function decide(
  { pod, container }: ImageRequest,
  present: boolean,
  failures: Failures,
  { clock }: Ports,
  config: KubeletConfig["imagePull"],
): PullDecision {
  const image = container.image ?? "";
  const backoffKey = imageBackoffKey(podUid(pod.metadata.uid), image);
  return decidePull({
    image,
    policy: container.imagePullPolicy as PullPolicy | undefined,
    present,
    backoffs: failures.backoffs,
    backoffKey,
    backoffPolicy: config.backoff,
    lastFailure: failures.last.get(backoffKey),
    now: clock.monotonicMs(),
  });
}

function pullAndLook(
  request: ImageRequest,
  pull$: Observable<number>,
  failures: Failures,
  ports: Ports,
  config: KubeletConfig["imagePull"],
): Observable<ImageStep> {
  const { pod, container } = request;
  const { clock } = ports;
  const image = container.image ?? "";
  const key = imageBackoffKey(podUid(pod.metadata.uid), image);
  return defer(() => {
    const startedAt = clock.monotonicMs();
    return pull$.pipe(
      switchMap((pullMs) => statusOf(ports, request).pipe(map((found) => ({ pullMs, found })))),
      switchMap(({ pullMs, found }) => {
        failures.last.delete(key);
        const totalMs = clock.monotonicMs() - startedAt;
        if (found === undefined) throw toKubeletError(new Error(`image "${image}" is missing after its pull`));
        return of(eventStep(pulledEvent(image, pullMs, totalMs, found.size)), { kind: "ready", image: found } as const);
      }),
      catchError((thrown: unknown) => {
        const error = toKubeletError(thrown);
        const now = clock.monotonicMs();
        const live = registerFailure(failures.backoffs, key, now, config.backoff);
        // A pod may sit out its longest delay before the next failure: what it waited for is not yet forgotten.
        failures.backoffs = pruneBackoffs(live, monotonicMs(now - config.backoff.maxMs), config.backoff);
        for (const known of failures.last.keys()) if (!failures.backoffs.has(known)) failures.last.delete(known);
        const failure = pullFailure(image, error);
        failures.last.set(key, failure);
        const retryAt = failures.backoffs.get(key);
        const until = retryAt === undefined ? undefined : ((now + retryAt.delayMs) as MonotonicMs);
        return of(eventStep(pullFailedEvent(image, error)), failedStep(failure, until));
      }),
    );
  });
}
