/**
 * A resource of the API server as an immutable map that stays up to date: streamed or listed, then watched, resumed
 * after every break. core/api/reflection.ts decides from each answer; its memory lives in one subscription.
 * Bounds: one request at a time, two timers, the objects selected. Upstream: client-go's Reflector.
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
  /** Default: all there are. */
  readonly selection?: ApiSelection;
  readonly clock: Clock;
  readonly rng: Rng;
  /** Feature gate WatchListClient: the state as the beginning of the watch, not as a list; on by default. */
  readonly usesStreams?: boolean;
  /** The server was found to be there again: no pause goes on. Default: nobody tells. */
  readonly returns$?: Observable<unknown>;
  /** A watch lasts one to two times this, in seconds, so that not all end at once. Default: upstream's 5 minutes. */
  readonly watchTimeoutS?: number;
}

/** The known objects of a resource. */
export interface Reflected<T> {
  /** By `namespace/name`, or name; undefined before the server has told them once. */
  readonly objects: ObjectsByKey<T> | undefined;
  /** Everything up to this version is in `objects`; empty before the first state. */
  readonly version: string;
  /** Why the server cannot be followed now; `objects` may be old then. */
  readonly problem: KubeletError | undefined;
}

/** Upstream's: the pause doubles until it is 30 to 60 s, and starts anew after two minutes without one. */
const BACKOFF: BackoffCurve & { readonly resetAfterMs: number } = {
  initialMs: 800,
  maxMs: 30_000,
  jitter: 1,
  resetAfterMs: 120_000,
};
/** After the server has come back its nodes do not ask all at once. */
const RETURN_SPREAD_MS = 1_000;
/** A pause the server asks for is at most this long. */
const LONGEST_RETRY_AFTER_MS = 60_000;
const WATCH_TIMEOUT_S = 300;
/** How much later than asked the end of a watch may come. */
const LATE_END_MS = 30_000;
/** Bookmarks come about once a minute: a watch silent for longer has lost its connection without being told. */
const SILENCE_MS = 150_000;
/** A stream that has not told the whole state by then is given up for a list. */
const INITIAL_EVENTS_MS = 60_000;
const BRIEF_MS = 1_000;

/**
 * The objects and the health of a resource, whenever either changed.
 *
 *     requests    stream(a)----b----#  800 ms  watch--a'--
 *     reflected   -----{a}----{ab}--{ab}!-----------{a'b}-      ! with a problem
 *
 * Changes of one object keep their order; of those that come at once only the last state is told. Cancels: the request
 * or pause under way. Errors: only InvariantError; it never completes. Bound: one request; a copy of the map per change.
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
      // A watch that is resumed tells what it missed all at once.
      auditTime(0, clock.scheduler),
      map(({ objects, version, problem }) => ({ objects, version, problem })),
    );
  });
}

/**
 * The pauses of one reflector, each about twice as long as the one before, unless the server is back before its end.
 */
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
    const asked = Math.min(problem?.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
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
