/**
 * ConfigMaps and Secrets followed by a watch each, while a pod refers to them: the strategy `Watch`. Owns one
 * reflector per object followed. Bounds: it ends with the last subscriber, once the object is immutable, or without a
 * request for a while. Upstream: watch_based_manager.go.
 */
import {
  BehaviorSubject,
  catchError,
  concat,
  defer,
  distinctUntilChanged,
  filter,
  finalize,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  share,
  startWith,
  Subject,
  switchMap,
  take,
  takeWhile,
  tap,
  throwError,
  timer,
} from "rxjs";
import { CONFIG_RESOURCES, configLookupOf, isImmutable, notRegistered, notSynced } from "../core/api/configLookup.ts";
import { type ConfigLookup, type ManifestObjectKey, objectKey } from "../core/configObjects.ts";
import { isKubeletError } from "../core/errors.ts";
import { deadline } from "../operators/deadline.ts";
import { longTimer } from "../operators/longTimer.ts";
import type { ConfigObjectRef, ObjectCache } from "../ports/objectCache.ts";
import type { Shedding } from "../ports/shedding.ts";
import type { Logger } from "../ports/telemetry.ts";
import { reflect, type ReflectorOptions } from "./reflector.ts";

export interface WatchedObjectsOptions
  extends Pick<ReflectorOptions<"secrets">, "api" | "clock" | "rng" | "usesStreams" | "returns$"> {
  /** Time without a request after which an object is no longer watched, until the next request. */
  readonly idleMs: number;
  readonly log: Logger;
  readonly shedding?: Shedding | undefined;
}

/** Maximum wait of a reader for an object that is not known yet. */
const SYNC_MS = 1_000;
/** Timeout of a watch, as upstream: a node has many of them, and each restart costs a request. */
const WATCH_TIMEOUT_S = 1_800;

interface Item {
  /** Undefined before the first answer of the watch. */
  readonly known: BehaviorSubject<ConfigLookup | undefined>;
  readonly asked$: Subject<void>;
  /** Ends the watch, until the next request for the object. */
  readonly dropped$: Subject<void>;
  /** The watch, shared by all subscribers of the object. */
  readonly run$: Observable<never>;
}

/** Creates the cache. Requests nothing before an object is followed. */
export function createWatchedObjects(options: WatchedObjectsOptions): ObjectCache {
  const items = new Map<ManifestObjectKey, Item>();
  options.shedding?.register({
    name: "objects of pods",
    kind: "watchers",
    shed: () => {
      const shed = [...items.values()].filter(({ known }) => known.value !== undefined && !isImmutable(known.value));
      for (const { dropped$ } of shed) dropped$.next();
      return shed.length;
    },
  });
  const keyOf = ({ kind, namespace, name }: ConfigObjectRef): ManifestObjectKey => objectKey(kind, namespace, name);
  const itemOf = (ref: ConfigObjectRef): Item => {
    const key = keyOf(ref);
    const item = items.get(key) ?? createItem(ref, options, () => items.delete(key));
    items.set(key, item);
    return item;
  };
  return {
    follow: (ref) =>
      defer(() => {
        const { run$, known } = itemOf(ref);
        return merge(run$, known.pipe(filter((lookup) => lookup !== undefined)));
      }),
    get: (ref) =>
      defer(() => {
        const item = items.get(keyOf(ref));
        if (item === undefined) {
          return of<ConfigLookup>({ kind: "unknown", error: notRegistered(ref.namespace, ref.name) });
        }
        item.asked$.next();
        return reported(item).pipe(
          deadline(SYNC_MS, options.clock, () => notSynced(ref.kind)),
          catchError((error: unknown) =>
            isKubeletError(error) ? of<ConfigLookup>({ kind: "unknown", error }) : throwError(() => error),
          ),
        );
      }),
  };
}

const reported = ({ known }: Pick<Item, "known">): Observable<ConfigLookup> =>
  known.pipe(
    filter((lookup) => lookup !== undefined),
    take(1),
  );

function createItem(ref: ConfigObjectRef, options: WatchedObjectsOptions, gone: () => void): Item {
  const { clock, idleMs } = options;
  const known = new BehaviorSubject<ConfigLookup | undefined>(undefined);
  const asked$ = new Subject<void>();
  const dropped$ = new Subject<void>();
  // A watch without an answer so far is not stopped: the server would have worked for nothing.
  const idle$ = concat(
    merge(longTimer(clock, idleMs), dropped$).pipe(take(1), ignoreElements()),
    reported({ known }).pipe(map(() => false)),
  );
  const isWanted$ = asked$.pipe(
    startWith(undefined),
    switchMap(() => concat(of(true), idle$)),
    distinctUntilChanged(),
  );
  const run$ = isWanted$.pipe(
    switchMap((isWanted) => {
      if (isWanted) return watchOf(ref, options);
      known.next(undefined);
      return NEVER;
    }),
    tap((lookup) => known.next(lookup)),
    takeWhile((lookup) => !isImmutable(lookup)),
    ignoreElements(),
    (watched$) => concat(watched$, NEVER),
    finalize(gone),
    // A subscriber that changes its objects unsubscribes before it subscribes again.
    share({ resetOnRefCountZero: () => timer(0, clock.scheduler) }),
  );
  return { known, asked$, dropped$, run$ };
}

/** Watches one object by name, the only selection that the Node authorizer allows a node. */
function watchOf({ kind, namespace, name }: ConfigObjectRef, options: WatchedObjectsOptions): Observable<ConfigLookup> {
  const { log, idleMs: _idle, shedding: _shedding, ...reflector } = options;
  const selection = { namespace, fieldSelector: `metadata.name=${name}` };
  let reportedOf: string | undefined;
  return reflect({ ...reflector, watchTimeoutS: WATCH_TIMEOUT_S, resource: CONFIG_RESOURCES[kind], selection }).pipe(
    tap(({ problem }) => {
      if (problem !== undefined && problem.message !== reportedOf) {
        log.warn("Cannot follow an object", { kind, object: `${namespace}/${name}`, error: problem });
      }
      reportedOf = problem?.message;
    }),
    map(({ objects }) => objects),
    filter((objects) => objects !== undefined),
    distinctUntilChanged(),
    map((objects) => {
      const [object] = objects.values();
      return object === undefined ? { kind: "missing" } : configLookupOf(kind, object);
    }),
  );
}
