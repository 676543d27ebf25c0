/**
 * A resource of the API server as an immutable map that stays up to date: streamed or listed, then watched, resumed
 * after every break. core/api/reflection.ts decides from each response; the subscription owns its state and the
 * backoff. Writes no cell. Bounds: one request at a time, two timers, the selected objects. Upstream: client-go's
 * Reflector.
 */
import {
  auditTime,
  catchError,
  concat,
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  repeat,
  switchMap,
  take,
  takeUntil,
  takeWhile,
  throwError,
  timeout,
} from "rxjs";
import type { ApiObjects, ApiResourceName } from "../core/api/apiResources.ts";
import { apiError } from "../core/api/apiStatus.ts";
import {
  type ObjectsByKey,
  type Reflection,
  type ReflectorInput,
  type ReflectorRequest,
  startReflection,
  stepReflection,
} from "../core/api/reflection.ts";
import { type KubeletError, kubeletError, toKubeletError } from "../core/errors.ts";
import { type BackoffCurve, backoffDelay } from "../operators/backoffDelay.ts";
import { longTimer } from "../operators/longTimer.ts";
import type { ApiSelection, ApiServer, ApiWatchEvent } from "../ports/apiServer.ts";
import type { Clock } from "../ports/clock.ts";
import type { Rng } from "../ports/random.ts";

export interface ReflectorOptions<R extends ApiResourceName> {
  readonly api: Pick<ApiServer, "list" | "watch">;
  readonly resource: R;
  /** Default: all objects. */
  readonly selection?: ApiSelection;
  readonly clock: Clock;
  readonly rng: Rng;
  /** Feature gate WatchListClient: the initial state comes from the watch instead of a list; on by default. */
  readonly usesStreams?: boolean;
  /** Emits when the server is reachable again, which ends any pause. Default: never. */
  readonly returns$?: Observable<unknown>;
  /** A watch lasts one to two times this, in seconds, so that not all end at once. Default: upstream's 5 minutes. */
  readonly watchTimeoutS?: number;
}

/** The known objects of a resource. */
export interface Reflected<T> {
  /** Objects by `namespace/name`, or name; undefined before the server's first answer. */
  readonly objects: ObjectsByKey<T> | undefined;
  /** Version up to which `objects` is complete; empty before the first state. */
  readonly version: string;
  /** How many whole states the server has sent; the second and later ones follow a gap. */
  readonly states: number;
  /** Why the server cannot be followed now; `objects` may be stale then. */
  readonly problem: KubeletError | undefined;
}

/** The pause doubles, as upstream's, to 30 to 60 s, and resets after two minutes without a pause. */
const BACKOFF: BackoffCurve & { readonly resetAfterMs: number } = {
  initialMs: 800,
  maxMs: 30_000,
  jitter: 1,
  resetAfterMs: 120_000,
};
/** Spreads the requests of nodes after the server has returned. */
const RETURN_SPREAD_MS = 1_000;
const WATCH_TIMEOUT_S = 300;
/** Tolerated delay of the end of a watch. */
const LATE_END_MS = 30_000;
/** Bookmarks arrive about once a minute: a watch silent for longer has lost its connection unnoticed. */
const SILENCE_MS = 150_000;
/** Deadline of the initial state of a stream; after it a list replaces the stream. */
const INITIAL_EVENTS_MS = 60_000;
const BRIEF_MS = 1_000;

/**
 * Emits the objects and the health of a resource, whenever either changes.
 *
 *     requests    stream(a)----b----#  800 ms  watch--a'--
 *     reflected   -----{a}----{ab}--{ab}!-----------{a'b}-      ! with a problem
 *
 * Changes of one object keep their order; of simultaneous ones only the last state is emitted. Cancels: the current
 * request or pause. Errors: only InvariantError; it never completes. Bound: one request; a copy of the map per
 * change.
 */
export function reflect<R extends ApiResourceName>(options: ReflectorOptions<R>): Observable<Reflected<ApiObjects[R]>> {
  const { usesStreams = true, clock } = options;
  return defer(() => {
    let reflection: Reflection<ApiObjects[R]> = startReflection(usesStreams);
    const pause = createPauses(options);
    const round$ = defer(() => {
      const wait$ = reflection.pause === "none" ? EMPTY : pause(reflection.problem);
      return concat(
        wait$,
        defer(() => answers(options, reflection.next, () => reflection.next.kind === "watch")),
      );
    });
    return round$.pipe(
      repeat(),
      map((input) => (reflection = stepReflection(reflection, input))),
      filter(({ objects, problem }) => objects !== undefined || problem !== undefined),
      distinctUntilChanged((before, now) => before.objects === now.objects && before.problem === now.problem),
      // A resumed watch reports all missed changes at once.
      auditTime(0, clock.scheduler),
      map(({ objects, version, states, problem }) => ({ objects, version, states, problem })),
    );
  });
}

/** Creates the pauses of a reflector: each about twice as long as the last, cut short when the server returns. */
function createPauses({
  clock,
  rng,
  returns$ = NEVER,
}: Pick<ReflectorOptions<ApiResourceName>, "clock" | "rng" | "returns$">) {
  let pauses = 0;
  let lastAt = -Infinity;
  return (problem: KubeletError | undefined): Observable<never> => {
    const now = clock.monotonicMs();
    pauses = now - lastAt > BACKOFF.resetAfterMs ? 1 : pauses + 1;
    lastAt = now;
    const asked = problem?.retryAfterMs ?? 0;
    const end$ = longTimer(clock, Math.max(asked, backoffDelay(BACKOFF, pauses, rng)));
    const soon$ = returns$.pipe(switchMap(() => longTimer(clock, RETURN_SPREAD_MS * rng.next())));
    return (asked > 0 ? end$ : merge(end$, soon$)).pipe(take(1), ignoreElements());
  };
}

/** Sends a request and emits its answers; the last one is its end. */
function answers<R extends ApiResourceName>(
  options: ReflectorOptions<R>,
  request: ReflectorRequest,
  isComplete: () => boolean,
): Observable<ReflectorInput<ApiObjects[R]>> {
  const inputs$ = request.kind === "list" ? page(options, request) : lines(options, request, isComplete);
  return inputs$.pipe(
    catchError((thrown: unknown) => of({ kind: "failed", error: toKubeletError(thrown) } as const)),
    takeWhile(({ kind }) => kind !== "failed" && kind !== "closed", true),
  );
}

function page<R extends ApiResourceName>(
  { api, resource, selection = {} }: ReflectorOptions<R>,
  request: Extract<ReflectorRequest, { readonly kind: "list" }>,
): Observable<ReflectorInput<ApiObjects[R]>> {
  const { kind: _, ...wanted } = request;
  return api.list(resource, { ...selection, ...definedOf(wanted) }).pipe(
    map(({ items, metadata }) => ({
      kind: "page",
      items,
      version: metadata.resourceVersion,
      continue: metadata.continue ?? "",
    })),
  );
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

const definedOf = <T extends object>(value: T): Defined<T> =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Defined<T>;

function lines<R extends ApiResourceName>(
  { api, resource, selection = {}, clock, rng, watchTimeoutS = WATCH_TIMEOUT_S }: ReflectorOptions<R>,
  { kind, resourceVersion }: Extract<ReflectorRequest, { readonly kind: "stream" | "watch" }>,
  isComplete: () => boolean,
): Observable<ReflectorInput<ApiObjects[R]>> {
  const startedAt = clock.monotonicMs();
  const timeoutSeconds = Math.ceil(watchTimeoutS * (1 + rng.next()));
  let isEmpty = true;
  const closed = (): ReflectorInput<ApiObjects[R]> => ({
    kind: "closed",
    isBrief: clock.monotonicMs() - startedAt < BRIEF_MS,
    isEmpty,
  });
  const watched$ = api
    .watch(resource, {
      ...selection,
      ...definedOf({ resourceVersion }),
      allowWatchBookmarks: true,
      timeoutSeconds,
      ...(kind === "stream" ? { sendInitialEvents: true } : {}),
    })
    .pipe(
      timeout({ each: SILENCE_MS, scheduler: clock.scheduler, with: () => throwError(silent) }),
      map((event) => {
        isEmpty = false;
        return inputOf(event);
      }),
      takeUntil(longTimer(clock, timeoutSeconds * 1000 + LATE_END_MS)),
    );
  const ended$ = concat(
    watched$,
    defer(() => of(closed())),
  );
  return kind === "stream" ? merge(ended$, slowStart(clock, isComplete)) : ended$;
}

const silent = (): KubeletError =>
  kubeletError("DeadlineExceeded", `the watch was silent for ${SILENCE_MS / 1000} s: neither event nor bookmark`);

/** Fails when the state is not complete in time. */
const slowStart = (clock: Clock, isComplete: () => boolean): Observable<never> =>
  longTimer(clock, INITIAL_EVENTS_MS).pipe(
    filter(() => !isComplete()),
    map(() => {
      throw kubeletError("DeadlineExceeded", `the initial events took longer than ${INITIAL_EVENTS_MS / 1000} s`);
    }),
  );

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

function inputOf<T extends ApiObjects[ApiResourceName]>(event: ApiWatchEvent<T>): ReflectorInput<T> {
  switch (event.type) {
    case "BOOKMARK": {
      const { resourceVersion, annotations } = event.object.metadata;
      const endsInitialEvents = annotations?.[INITIAL_EVENTS_END] === "true";
      return { kind: "bookmark", version: resourceVersion, endsInitialEvents };
    }
    case "ERROR":
      return { kind: "failed", error: apiError(event.object) };
    default:
      return { kind: "change", type: event.type, object: event.object };
  }
}
