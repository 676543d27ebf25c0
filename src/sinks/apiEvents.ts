/**
 * Writes events to the API server, one at a time and in order: creates each once and patches it when it repeats. Owns
 * the queue of waiting events. Bound: 1000 events. Upstream: recordToSink of client-go's tools/record.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  ignoreElements,
  merge,
  NEVER,
  type Observable,
  take,
  throwError,
} from "rxjs";
import { apiEvent, type CountedEvent, eventPatch, eventRef, isExpectedRefusal, isRefused } from "../core/apiEvent.ts";
import { type KubeletError, toKubeletError } from "../core/errors.ts";
import { boundedMergeMap } from "../operators/boundedMergeMap.ts";
import { longTimer } from "../operators/longTimer.ts";
import type { ApiServer } from "../ports/apiServer.ts";
import type { Clock } from "../ports/clock.ts";
import type { Rng } from "../ports/random.ts";
import type { Telemetry } from "../ports/telemetry.ts";

export interface ApiEventsOptions {
  readonly api: Pick<ApiServer, "create" | "patch">;
  /** Reporter named in the events. */
  readonly nodeName: string;
  /** Emits when the server is reachable again, which ends the current pause. Default: never. */
  readonly returns$?: Observable<unknown>;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly telemetry: Telemetry;
}

const MAX_WAITING = 1_000;
const MAX_TRIES = 12;
const PAUSE_MS = 10_000;

/**
 * Writes every event, retrying until the server accepts or rejects it: at most 12 attempts in about two minutes.
 *
 *     events$   (ab)---------c
 *     writes    a--# <10s a--|b--|c--|
 *
 * Logs events that the server rejects; counts events dropped at a full queue in
 * `rxlet_dropped_total{queue="apiEvents"}`. Differs from upstream: a server in trouble (5xx, 429) is retried.
 * Cancels: the request in flight. Errors: passes those of events$. Bound: one request, 1000 events waiting.
 */
export const storeEvents = (events$: Observable<CountedEvent>, options: ApiEventsOptions): Observable<never> =>
  events$.pipe(
    boundedMergeMap((event) => attempt(event, 1, options), {
      limit: 1,
      queueLimit: MAX_WAITING,
      onDrop: () => options.telemetry.metrics.count("rxlet_dropped_total", { queue: "apiEvents" }),
    }),
  );

function attempt(event: CountedEvent, tries: number, options: ApiEventsOptions): Observable<never> {
  return write(event, options).pipe(
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      if (isRefused(error) || tries >= MAX_TRIES) return giveUp(event, error, options);
      const { clock, rng, returns$ = NEVER } = options;
      // The first pause is random, so that the nodes of a recovering server do not retry all at once.
      const pauseMs = Math.max(error.retryAfterMs ?? 0, tries === 1 ? PAUSE_MS * rng.next() : PAUSE_MS);
      return concat(
        merge(longTimer(clock, pauseMs), returns$).pipe(take(1), ignoreElements()),
        defer(() => attempt(event, tries + 1, options)),
      );
    }),
  );
}

/** The server expires events; a series whose event has expired starts again with a new one. */
function write(event: CountedEvent, { api, nodeName }: ApiEventsOptions): Observable<never> {
  const create$ = defer(() => api.create("events", apiEvent(event, nodeName)));
  if (event.count === 1) return create$.pipe(ignoreElements());
  const patch = { type: "application/strategic-merge-patch+json", body: eventPatch(event) } as const;
  return api.patch("events", eventRef(event), patch).pipe(
    catchError((thrown: unknown) => (toKubeletError(thrown).code === "NotFound" ? create$ : throwError(() => thrown))),
    ignoreElements(),
  );
}

function giveUp(counted: CountedEvent, error: KubeletError, { telemetry }: ApiEventsOptions): Observable<never> {
  const { event } = counted;
  const { namespace, name } = event.object;
  const fields = { event: { object: { namespace, name }, reason: event.reason, message: event.message }, error };
  if (!isRefused(error)) telemetry.log.error("Unable to write event (retry limit exceeded!)", fields);
  else if (isExpectedRefusal(error))
    telemetry.log.debug("apiEvents", "Server rejected event (will not retry!)", fields);
  else telemetry.log.error("Server rejected event (will not retry!)", fields);
  return EMPTY;
}
