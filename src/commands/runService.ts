/**
 * Runs a node as a service of systemd: reports its start, its stop and its state, and feeds the watchdog while the node
 * is alive. The event loop of a stalled node sends nothing, and a node whose health checks fail is not fed; systemd then
 * ends and starts it again. Bound: two messages at a time. Upstream: pkg/kubelet/watchdog, and SdNotify in
 * cmd/kubelet/app/server.go.
 */
import {
  catchError,
  concat,
  connect,
  defer,
  EMPTY,
  endWith,
  filter,
  first,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  scan,
  share,
  startWith,
  switchMap,
  take,
  takeUntil,
  takeWhile,
  tap,
} from "rxjs";
import { toKubeletError } from "../core/errors.ts";
import { nodeStatus, READY, startTakes, statusText, STOPPING, WATCHDOG } from "../core/systemd/notifications.ts";
import { deadline } from "../operators/deadline.ts";
import { longTimer } from "../operators/longTimer.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Clock } from "../ports/clock.ts";
import type { HealthCheck, KubeletQueries } from "../ports/kubeletQueries.ts";
import type { ServiceManager } from "../ports/serviceManager.ts";
import type { Logger } from "../ports/telemetry.ts";
import type { ListeningServer, NodeOutput } from "./nodeOutput.ts";
import { type ReloadSetup, reloads, type Restart, type Send } from "./reloadService.ts";

/** Period of the messages of a start, and the time that each of them asks for. */
const START_PERIOD_MS = 10_000;
const START_STEP_MS = 30_000;
/** A start that takes longer is not alive: systemd ends it. It may wait for a person who approves its certificate. */
const START_LIMIT_MS = 15 * 60_000;
/** A server that has no certificate yet delays the end of the start for at most this long. */
const SERVERS_MS = 10_000;
const READY_RETRY_MS = 10_000;
/** Upstream's delay before it tries to feed the watchdog again. */
const FEED_RETRY_MS = 1_000;
/** Most frequent changes of the status. */
const STATUS_PERIOD_MS = 30_000;
/** The process ends within two seconds after a signal; the message must not take them all. */
const STOPPING_MS = 1_000;

/** The manager of a service, and its wishes. */
export interface ServiceSetup {
  readonly manager: ServiceManager;
  /** Period of the messages to the watchdog; undefined without a watchdog. */
  readonly watchdogPeriodMs: number | undefined;
  /** Servers that listen at the end of the start. */
  readonly servers: readonly ListeningServer[];
  readonly reload: ReloadSetup;
  readonly clock: Clock;
  readonly log: Logger;
}

type Queries = Pick<KubeletQueries, "pods" | "runtimeProblems" | "health">;

/** Outputs of a node, as far as the service follows them. */
export type ServiceOutput =
  | Exclude<NodeOutput, { readonly kind: "started" }>
  | { readonly kind: "started"; readonly kubelet: { readonly queries: Queries } };

/**
 * Runs the node until `stop$` emits, a reload ends it or it ends by itself, and passes its outputs on; the last one is
 * `Restart` after a reload. `S` is a message of a start that
 * takes long, `R` the end of the start, `W` one to the watchdog, `T` a changed status, `X` the beginning of the stop.
 *
 *     node$          -----------kubelet--server------------------
 *     stop$          ---------------------------------------x
 *     messages       ----S----S----------R-W--W-T-W--W--W---X
 *     runService     -----------kubelet--server---------------|
 *
 * Cancels: the node, and the message that is being sent. Errors: those of the node; a message that cannot be sent is
 * logged once until one can be sent again. Bound: the message `X` delays the end by STOPPING_MS.
 */
export function runService<T extends ServiceOutput>(
  node$: Observable<T>,
  stop$: Observable<unknown>,
  setup: ServiceSetup,
): Observable<T | Restart> {
  return defer(() => {
    const send = sender(setup);
    const once$ = stop$.pipe(take(1), share());
    const stopping$ = once$.pipe(
      switchMap(() => send([STOPPING, statusText("Stopping")], STOPPING_MS)),
      ignoreElements(),
    );
    const running$ = node$.pipe(connect((outputs$) => merge(reports(outputs$, send, setup), outputs$)));
    const restart$ = reloads(setup.reload, send, setup.log);
    return merge(stopping$, merge(restart$, running$.pipe(endWith(ENDED))).pipe(takeUntil(once$))).pipe(
      takeWhile((output) => output !== ENDED),
      takeWhile((output) => output.kind !== "restart", true),
    );
  });
}

/** The node has ended by itself, as it does when another kubelet wants its lock. */
const ENDED = Symbol("ended");

function sender({ manager, clock, log }: ServiceSetup): Send {
  let isFailing = false;
  const sent = (): boolean => {
    if (isFailing) log.info("systemd is notified again");
    isFailing = false;
    return true;
  };
  const failed = (thrown: unknown): Observable<boolean> => {
    const error = toKubeletError(thrown);
    if (!isFailing) log.warn("Cannot notify systemd", { error });
    isFailing = true;
    return of(false);
  };
  return (assignments, deadlineMs) => {
    const message$ = manager.notify(assignments);
    const bounded$ = deadlineMs === undefined ? message$ : message$.pipe(deadline(deadlineMs, clock));
    return bounded$.pipe(
      map(sent),
      catchError((thrown: unknown) => failed(thrown)),
    );
  };
}

/** Sends the messages of the start, then those of a running node. Completes with the node, never emits. */
function reports(outputs$: Observable<ServiceOutput>, send: Send, setup: ServiceSetup): Observable<never> {
  return readyQueries(outputs$, setup).pipe(
    startWith(undefined),
    switchMap((queries) => (queries === undefined ? starting(send, setup) : running(queries, send, setup))),
    ignoreElements(),
    takeUntil(outputs$.pipe(ignoreElements(), endWith(undefined))),
  );
}

/** Emits once, when the kubelet runs and its servers listen, or SERVERS_MS after its start. */
function readyQueries(outputs$: Observable<ServiceOutput>, { servers, clock }: ServiceSetup): Observable<Queries> {
  const serving$ = outputs$.pipe(
    filter((output) => output.kind !== "started"),
    scan((left, { server }) => left.filter((each) => each !== server), servers),
    startWith(servers),
    filter((left) => left.length === 0),
  );
  return outputs$.pipe(
    filter((output) => output.kind === "started"),
    take(1),
    switchMap(({ kubelet }) =>
      merge(serving$, longTimer(clock, SERVERS_MS)).pipe(
        take(1),
        map(() => kubelet.queries),
      ),
    ),
  );
}

/** Keeps systemd waiting for the end of the start while the event loop turns. */
function starting(send: Send, { watchdogPeriodMs = Infinity, clock }: ServiceSetup): Observable<unknown> {
  const message = [startTakes(START_STEP_MS), statusText("Starting"), ...fed(watchdogPeriodMs)];
  return pollAfter(clock, Math.min(START_PERIOD_MS, watchdogPeriodMs), () => send(message), {
    immediately: false,
  }).pipe(takeUntil(longTimer(clock, START_LIMIT_MS)));
}

const fed = (watchdogPeriodMs: number): readonly string[] => (watchdogPeriodMs === Infinity ? [] : [WATCHDOG]);

/** Reports the end of the start, then each change of the status; feeds the watchdog beside that. */
function running(queries: Queries, send: Send, setup: ServiceSetup): Observable<unknown> {
  const { watchdogPeriodMs = Infinity, clock } = setup;
  let last = "";
  const report = (line: string, ...others: readonly string[]): Observable<boolean> =>
    send([...others, line]).pipe(tap((isSent) => (last = isSent ? line : last)));
  const ready$ = pollAfter(clock, READY_RETRY_MS, () =>
    report(statusOf(queries), READY, ...fed(watchdogPeriodMs)),
  ).pipe(first((isSent) => isSent));
  const changes$ = pollAfter(
    clock,
    STATUS_PERIOD_MS,
    () => {
      const line = statusOf(queries);
      return line === last ? EMPTY : report(line);
    },
    { immediately: false },
  );
  return merge(concat(ready$, changes$), watchdogPeriodMs === Infinity ? EMPTY : feeding(queries, send, setup));
}

/** Feeds the watchdog in each period in which all health checks pass, and tries a second time if that fails. */
function feeding(
  queries: Queries,
  send: Send,
  { watchdogPeriodMs = 0, clock, log }: ServiceSetup,
): Observable<unknown> {
  const feed = (): Observable<boolean> => send([WATCHDOG]);
  const again = (): Observable<boolean> => longTimer(clock, FEED_RETRY_MS).pipe(switchMap(feed));
  return pollAfter(
    clock,
    watchdogPeriodMs,
    () => {
      const failed = failedChecks(queries);
      if (failed.length === 0) return feed().pipe(switchMap((isSent) => (isSent ? EMPTY : again())));
      const problems = Object.fromEntries(failed.map(({ name, problem }) => [name, problem]));
      log.error("The systemd watchdog is not fed: the node is not healthy", { problems });
      return EMPTY;
    },
    { immediately: false },
  );
}

const failedChecks = (queries: Queries): readonly HealthCheck[] =>
  queries.health().filter(({ problem }) => problem !== undefined);

const statusOf = (queries: Queries): string =>
  nodeStatus({
    pods: queries.pods().length,
    runtimeProblems: queries.runtimeProblems(),
    failedChecks: failedChecks(queries).map(({ name }) => name),
  });
