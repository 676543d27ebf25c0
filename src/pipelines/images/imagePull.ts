/**
 * Ensures that images are present. Requests with the same image and credentials share one pull, which is paced;
 * backoffs are per pod and image. Owns the pulls in progress and the backoffs. Bound: `maxParallel` pulls, besides
 * those that take longer than PULL_PATIENCE_MS; expired backoffs are pruned. Upstream: pkg/kubelet/images
 * image_manager.go, puller.go.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  finalize,
  from,
  map,
  type Observable,
  of,
  shareReplay,
  Subject,
  switchMap,
  tap,
  throwError,
} from "rxjs";
import type { Container, Pod } from "../../core/api.ts";
import { type ContainerBackoffs, NO_BACKOFFS, registerFailure } from "../../core/backoff.ts";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import { withoutUnknownCode } from "../../core/grpcStatus.ts";
import { type MonotonicMs, type PodUid, podUid } from "../../core/ids.ts";
import {
  decidePull,
  type ImageEvent,
  imageBackoffKey,
  inspectFailure,
  type PullDecision,
  type PullPolicy,
  pulledEvent,
  pullFailedEvent,
  missingPullSecretsEvent,
  allFailed,
  pullFailure,
  ensureImageLabels,
  type PullInput,
} from "../../core/image/pullDecision.ts";
import type { RegistryCredential } from "../../core/image/dockerConfig.ts";
import { ok, type Result } from "../../core/result.ts";
import type { PullInLine } from "../../core/timeline/podWaits.ts";
import type { SpanContext } from "../../core/tracing/spanContext.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { AuthConfig, type Image, ImageSpec, type PodSandboxConfig } from "../../gen/cri.ts";
import { orElse } from "../../operators/orElse.ts";
import { createSemaphore } from "../../operators/semaphore.ts";
import { shareByKey } from "../../operators/shareByKey.ts";
import { tokenBucket } from "../../operators/tokenBucket.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { PullRecords } from "./pullRecords.ts";
import type { PullCredentials } from "./registryCredentials.ts";

type Ports = Pick<KubeletPorts, "images" | "clock" | "telemetry">;

/**
 * A pull that takes longer continues without its slot, so that a registry without an answer does not delay all pods.
 * Differs from upstream, whose serialized pulls wait for it without a limit.
 */
const PULL_PATIENCE_MS = 10 * 60_000;

export interface ImageRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly sandboxConfig: PodSandboxConfig;
  /** Asked for when a pull is needed. */
  readonly credentials: Observable<Result<PullCredentials>>;
  /** The image as `look` found it while the sandbox was made; absent: the runtime is asked. A wrong one fails CreateContainer. */
  readonly found?: Image | undefined;
  /** The span that needs the image. */
  readonly parent?: SpanContext | undefined;
}

/** The container whose image is looked for. */
export type ImageQuestion = Pick<ImageRequest, "container" | "pod" | "parent">;

/** Progress of one request; `ready` or `failed` comes last. */
export type ImageStep =
  /** `ofPod`: not of the container alone. */
  | { readonly kind: "event"; readonly event: ImageEvent; readonly ofPod?: true }
  | { readonly kind: "ready"; readonly image: Image }
  | { readonly kind: "failed"; readonly error: KubeletError; readonly retryAt: MonotonicMs | undefined };

export interface ImagePulls {
  /** Unsubscribing ends the wait, and also the pull if no other pod waits for it. Never errors. */
  ensure(request: ImageRequest): Observable<ImageStep>;
  /** Emits the image of a container once; undefined if the runtime has none or does not answer. Never errors. */
  look(question: ImageQuestion): Observable<Image | undefined>;
  /** Forgets the backoffs of a pod: its next pulls are not held back. */
  forget(uid: PodUid): void;
  /** Emits whenever the runtime has got an image. */
  readonly pulled$: Observable<void>;
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
export function createImagePulls(ports: Ports, config: KubeletConfig["imagePull"], records: PullRecords): ImagePulls {
  const failures: Failures = { backoffs: NO_BACKOFFS, last: new Map() };
  const pulls = sharedPulls(ports, config);
  return {
    line: pulls.line,
    pulled$: pulls.pulled$,
    forget: (uid) => {
      const isOthers = (key: string): boolean => !key.startsWith(imageBackoffKey(uid, ""));
      failures.backoffs = new Map([...failures.backoffs].filter(([key]) => isOthers(key)));
      for (const key of [...failures.last.keys()]) if (!isOthers(key)) failures.last.delete(key);
    },
    ensure: (request) => ensureImage(request, { ports, config, records, failures, pulls }),
    look: (question) => statusOf(ports, question).pipe(orElse(() => of(undefined))),
  };
}

interface Pulling {
  readonly ports: Ports;
  readonly config: KubeletConfig["imagePull"];
  readonly records: PullRecords;
  readonly failures: Failures;
  readonly pulls: ReturnType<typeof sharedPulls>;
}

function ensureImage(asked: ImageRequest, pulling: Pulling): Observable<ImageStep> {
  const { ports, records, pulls } = pulling;
  // The credentials are found once per request, when first needed.
  const request = { ...asked, credentials: asked.credentials.pipe(shareReplay({ bufferSize: 1, refCount: true })) };
  const countRequest = (present: PullInput["present"] | undefined, decision: PullDecision | undefined): void =>
    ports.telemetry.metrics.count(
      "kubelet_image_manager_ensure_image_requests_total",
      ensureImageLabels(asked.container.imagePullPolicy, present, decision),
    );
  const image$ = asked.found === undefined ? statusOf(ports, request) : of(asked.found);
  return image$.pipe(
    switchMap((image) => accessTo(image, request, records).pipe(map((access) => ({ image, access })))),
    switchMap(({ image, access }) => {
      const decision = access.ok ? decide(request, access.value, pulling) : undefined;
      countRequest(access.ok ? access.value : undefined, decision);
      switch (decision?.kind) {
        case undefined:
          return access.ok ? EMPTY : credentialsFailed(request, access.error);
        case "present":
          return of(eventStep(decision.event), { kind: "ready", image: image as Image } as const);
        case "refuse":
          return of(eventStep(decision.event), failedStep(decision.error));
        case "wait":
          return of(eventStep(decision.event), failedStep(decision.error, decision.until));
        case "pull":
          return concat(
            of(eventStep(decision.event)),
            withCredentials(request, (credentials) =>
              pullAndLook(request, pulls.join({ image: decision.pullName, credentials }, request), pulling),
            ),
          );
      }
    }),
    catchError((thrown: unknown) => {
      countRequest(undefined, undefined);
      const { error, event } = inspectFailure(request.container.image ?? "", toKubeletError(thrown));
      return of(eventStep(event), failedStep(error));
    }),
  );
}

/** Returns whether the image is present, and whether this pod may use it. */
function accessTo(
  image: Image | undefined,
  { container, credentials }: ImageRequest,
  records: PullRecords,
): Observable<Result<PullInput["present"]>> {
  if (image === undefined) return of(ok("absent" as const));
  if (container.imagePullPolicy === "Always") return of(ok("unchecked" as const));
  const read$ = credentials.pipe(map((found) => (found.ok ? ok(found.value.credentials) : found)));
  return records.check({ image: container.image ?? "", imageRef: image.id, credentials: read$ });
}

const credentialsFailed = (
  { container }: Pick<ImageRequest, "container">,
  error: KubeletError,
): Observable<ImageStep> =>
  of(eventStep(pullFailedEvent(container.image ?? "", error)), failedStep(pullFailure(container.image ?? "", error)));

/** A missing secret causes an event, and the pull is attempted nevertheless; a broken one fails the pull. */
const withCredentials = (
  { container, credentials }: ImageRequest,
  pull: (credentials: readonly RegistryCredential[]) => Observable<ImageStep>,
): Observable<ImageStep> =>
  credentials.pipe(
    switchMap((found) => {
      if (!found.ok) return credentialsFailed({ container }, found.error);
      const { missing, credentials: toTry } = found.value;
      const reported: readonly ImageStep[] =
        missing.length === 0 ? [] : [{ kind: "event", event: missingPullSecretsEvent(missing), ofPod: true }];
      return concat(from(reported), pull(toTry));
    }),
  );

/** The image of a pull and its credentials, which distinguish pulls. */
interface Pull {
  readonly image: string;
  readonly credentials: readonly RegistryCredential[];
}

/** A pull that worked: how long the runtime took, and the credential it took, if any. */
interface Pulled {
  readonly tookMs: number;
  readonly used: RegistryCredential | undefined;
}

/** Creates the pulls by image and credentials: shared among requests, bounded in rate and number. */
function sharedPulls({ images, clock, telemetry }: Ports, config: KubeletConfig["imagePull"]) {
  const pace = tokenBucket({ qps: config.qps, burst: config.burst, clock });
  const slots = createSemaphore(config.maxParallel, { ms: PULL_PATIENCE_MS, clock });
  /** Listed in the order of their turns. */
  const line = new Map<string, Pull & PullInLine & Pick<ImageRequest, "pod" | "sandboxConfig" | "parent">>();
  const pulled = new Subject<void>();
  const request = (key: string): Observable<Pulled> =>
    defer(() => {
      const startedAt = clock.monotonicMs();
      const asked = line.get(key);
      if (asked === undefined) return EMPTY;
      line.set(key, { ...asked, startedAt });
      const { image, credentials, pod, sandboxConfig, parent } = asked;
      const pull = (auth: AuthConfig | undefined): Observable<unknown> =>
        images
          .pullImage({ image: imageSpec(image, pod), auth, sandboxConfig }, { parent })
          .pipe(catchError((thrown: unknown) => throwError(() => withoutUnknownCode(toKubeletError(thrown)))));
      return firstToWork(credentials, pull).pipe(
        map((used) => {
          const tookMs = clock.monotonicMs() - startedAt;
          telemetry.metrics.observe("kubelet_image_pull_duration_seconds", tookMs / 1000, {
            image_size_in_bytes: "N/A",
          });
          return { tookMs, used };
        }),
        tap(() => pulled.next()),
      );
    });
  const runs = shareByKey<string, Pulled>({
    start: (key) =>
      slots.run(pace.acquire().pipe(switchMap(() => request(key)))).pipe(finalize(() => void line.delete(key))),
  });
  const join = (pull: Pull, { pod, sandboxConfig, parent }: ImageRequest): Observable<Pulled> =>
    defer(() => {
      const key = JSON.stringify([pull.image, pull.credentials]);
      const known = line.get(key);
      const { askedAt, startedAt } = known ?? { askedAt: clock.monotonicMs(), startedAt: undefined };
      line.set(key, { ...pull, askedAt, startedAt, pod, sandboxConfig, parent: known?.parent ?? parent });
      return runs.join(key);
    });
  const lineOf = (): readonly PullInLine[] =>
    [...line.values()].map(({ image, askedAt, startedAt }) => ({ image, askedAt, startedAt }));
  return { join, pulled$: pulled.asObservable(), line: lineOf };
}

/**
 * Pulls with one credential after the other, and returns the first that worked; without credentials pulls without one.
 * Errors: the combined failures, when every credential failed.
 */
function firstToWork(
  credentials: readonly RegistryCredential[],
  pull: (auth: AuthConfig | undefined) => Observable<unknown>,
  failures: readonly KubeletError[] = [],
): Observable<RegistryCredential | undefined> {
  const [credential, ...others] = credentials;
  if (credential === undefined && failures.length > 0) return throwError(() => allFailed(failures));
  if (credential === undefined) return pull(undefined).pipe(map(() => undefined));
  const { username, password } = credential;
  return pull(AuthConfig.fromPartial({ username, password })).pipe(
    map(() => credential),
    catchError((thrown: unknown) => firstToWork(others, pull, [...failures, toKubeletError(thrown)])),
  );
}

/** An image as a pod asks for it: its annotations may mean something to the runtime. */
const imageSpec = (image: string, { metadata }: Pod): ImageSpec =>
  ImageSpec.fromPartial({ image, annotations: metadata.annotations ?? {} });

function statusOf({ images }: Ports, { container, pod, parent }: ImageQuestion): Observable<Image | undefined> {
  const image = imageSpec(container.image ?? "", pod);
  return images.imageStatus({ image, verbose: false }, { parent }).pipe(map((answer) => answer.image));
}

function decide(
  { pod, container }: ImageRequest,
  present: PullInput["present"],
  { failures, ports: { clock }, config }: Pulling,
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
  pull$: Observable<Pulled>,
  { failures, ports, config, records }: Pulling,
): Observable<ImageStep> {
  const { pod, container } = request;
  const { clock } = ports;
  const image = container.image ?? "";
  const key = imageBackoffKey(podUid(pod.metadata.uid), image);
  return defer(() => {
    const startedAt = clock.monotonicMs();
    const looked$ = pull$.pipe(
      switchMap((pulled) => statusOf(ports, request).pipe(map((found) => ({ ...pulled, found })))),
      map(({ tookMs, used, found }) => {
        if (found === undefined) throw toKubeletError(new Error(`image "${image}" is missing after its pull`));
        return { tookMs, used, found };
      }),
    );
    return records.during(image, looked$).pipe(
      switchMap(({ tookMs, found }) => {
        failures.last.delete(key);
        const event = pulledEvent(image, tookMs, clock.monotonicMs() - startedAt, found.size);
        return of(eventStep(event), { kind: "ready", image: found } as const);
      }),
      catchError((thrown: unknown) => {
        const error = toKubeletError(thrown);
        const now = clock.monotonicMs();
        failures.backoffs = registerFailure(failures.backoffs, key, now, config.backoff);
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
