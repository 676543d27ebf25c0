/**
 * The event recorder: correlates events (eventCorrelator.ts), then writes them as log lines and metrics, and passes
 * them to a store if there is one: the API server (apiEvents.ts), or the event objects of `rxlet dev`. Owns one
 * correlator per subscription, which bounds its memory; has no queue and no timer. Upstream: record.EventBroadcaster
 * with structured logging.
 */
import { connect, defer, filter, ignoreElements, map, merge, type Observable, tap } from "rxjs";
import type { CountedEvent } from "../core/apiEvent.ts";
import type { KubeletEvent } from "../core/events.ts";
import type { Clock } from "../ports/clock.ts";
import type { Telemetry } from "../ports/telemetry.ts";
import {
  CORRELATOR_LIMITS,
  type CorrelatorLimits,
  createEventCorrelator,
  takeToken,
  type Tokens,
} from "./eventCorrelator.ts";

export interface RecordEventsOptions {
  readonly telemetry: Telemetry;
  /** Events per second over all objects (`eventRecordQPS`); 0 is no limit. */
  readonly qps: number;
  /** Burst of events over all objects (`eventBurst`). */
  readonly burst: number;
  readonly clock: Clock;
  readonly limits?: CorrelatorLimits;
  /**
   * Second destination of events, beside the log. It has its own rate limit, so `qps` and `burst` do not apply to it.
   */
  readonly store?: EventStore | undefined;
  /** Third destination, which gets the same events as the log. */
  readonly alsoStore?: EventStore | undefined;
}

type EventStore = (events$: Observable<CountedEvent>) => Observable<never>;

/**
 * Records every event: one log line with its current count, and `rxlet_events_total`. Events rejected by the spam
 * filter or the rate limit are counted in `rxlet_dropped_total{queue="events"}` and not written.
 *
 *     events$    a  a  b  a
 *     log        a1 a2 b1 a3
 *
 * Cancels: nothing is pending. Errors: passes those of events$. Bound: the correlator's tables.
 */
export function recordEvents(events$: Observable<KubeletEvent>, options: RecordEventsOptions): Observable<never> {
  const { telemetry, qps, burst, clock, store, alsoStore, limits = CORRELATOR_LIMITS } = options;
  return defer(() => {
    const correlator = createEventCorrelator(limits);
    let bucket: Tokens | undefined;
    const isWithinRate = (): boolean => {
      if (qps <= 0 || store !== undefined) return true;
      const next = takeToken(bucket, Math.max(1, burst), 1000 / qps, clock.monotonicMs());
      bucket = next.bucket;
      return next.taken;
    };
    return events$.pipe(
      map((event) => {
        const { type, reason } = event;
        telemetry.metrics.count("rxlet_events_total", { type, reason });
        const counted = correlator.correlate(event, clock.monotonicMs(), clock.wallTime());
        if (counted !== undefined && isWithinRate()) return counted;
        telemetry.metrics.count("rxlet_dropped_total", { queue: "events" });
        return undefined;
      }),
      filter((counted) => counted !== undefined),
      tap((counted) => writeEvent(telemetry, counted)),
      storedIn([store, alsoStore].filter((each) => each !== undefined)),
    );
  });
}

const storedIn = (stores: readonly EventStore[]): EventStore =>
  stores.length === 0
    ? ignoreElements()
    : connect((shared$: Observable<CountedEvent>) => merge(...stores.map((store) => store(shared$))));

function writeEvent({ log }: Telemetry, { event, count }: CountedEvent): void {
  const { kind, namespace, name, fieldPath } = event.object;
  const fields = {
    logger: "events",
    object: { namespace, name },
    kind,
    ...(fieldPath === "" ? {} : { fieldPath }),
    type: event.type,
    reason: event.reason,
    message: event.message,
    ...(count === 1 ? {} : { count }),
  };
  if (event.type === "Warning") log.warn("Event occurred", fields);
  else log.info("Event occurred", fields);
}
