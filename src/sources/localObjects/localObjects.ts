/**
 * Objects of this node as an API server would return them: its pods, the Node, their namespaces and events. They are
 * read on request, and after each change while a client watches, so that an idle node pays nothing.
 */
import {
  concat,
  defer,
  filter,
  from,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  share,
  takeUntil,
  tap,
} from "rxjs";
import type { ApiResourceName } from "../../core/api/apiResources.ts";
import type { ApiWatchOptions } from "../../core/api/apiRequests.ts";
import type { ApiEvent } from "../../core/apiEvent.ts";
import { getObject, listObjects } from "../../core/apiObjects/reads.ts";
import { parseSelection } from "../../core/apiObjects/selectors.ts";
import { type ApiObject, typed, untyped } from "../../core/apiObjects/storedObject.ts";
import { firstLines, lineOf, tooOldLine, type WatchLine } from "../../core/apiObjects/watchLines.ts";
import type { Pod } from "../../core/api.ts";
import { formatInstant } from "../../core/time/civilTime.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { ApiWatchEvent } from "../../ports/apiServer.ts";
import type { Clock } from "../../ports/clock.ts";
import type { KubeletQueries } from "../../ports/kubeletQueries.ts";
import type { ObjectReader } from "../../ports/objectReader.ts";
import type { EventObjects } from "./eventObjects.ts";
import { createObjectMirror } from "./objectMirror.ts";

/** The resources that can be read. */
export const LOCAL_RESOURCES = ["pods", "nodes", "namespaces", "events"] as const satisfies readonly ApiResourceName[];

export interface LocalObjectsSetup {
  readonly queries: Pick<KubeletQueries, "shownPods" | "node">;
  /** Emits after the pods changed. */
  readonly podsChanged$: Observable<unknown>;
  readonly events: EventObjects;
  readonly clock: Clock;
}

/** Period for reading the Node while a client watches it, because its changes are not announced. */
const LOOK_AGAIN_MS = 5_000;
/** Period of bookmarks, which detect a lost connection of a watch. */
const BOOKMARK_MS = 30_000;
const MS_PER_SECOND = 1_000;
const LATER = { immediately: false };

/** Creates the reader. Its calls fail with the errors of an API server. */
export function createLocalObjects({ queries, podsChanged$, events, clock }: LocalObjectsSetup): ObjectReader {
  const startedAt = formatInstant(clock.wallTime());
  const mirror = createObjectMirror({
    pods: () => queries.shownPods().map(asObject),
    nodes: () => [asObject(queries.node())],
    namespaces: () => namespacesOf(queries.shownPods(), startedAt),
    events: () => events.current().map(withUid),
  });
  const refreshAll = (): void => LOCAL_RESOURCES.forEach((resource) => mirror.refresh(resource));
  const looking$ = merge(
    podsChanged$,
    events.changes$,
    pollAfter(clock, LOOK_AGAIN_MS, () => of(undefined), LATER),
  ).pipe(tap(refreshAll), ignoreElements(), share());

  const watched = (resource: ApiResourceName, options: ApiWatchOptions): Observable<WatchLine> =>
    defer(() => {
      const selection = parseSelection(resource, options);
      mirror.refresh(resource);
      const lines = firstLines(mirror, resource, selection, options);
      if (lines === undefined) return of(tooOldLine(mirror, options));
      const changes$ = mirror.changes$.pipe(
        filter((change) => change.resource === resource),
        map((change) => lineOf(selection, change)),
        filter((line) => line !== undefined),
      );
      return concat(from(lines), merge(changes$, looking$, bookmarks(options))).pipe(
        takeUntil(timeIsOver(options, clock)),
      );
    });
  const bookmarks = ({ allowWatchBookmarks }: ApiWatchOptions): Observable<WatchLine> =>
    allowWatchBookmarks === true
      ? pollAfter(clock, BOOKMARK_MS, () => of(bookmark(mirror.store.revision)), LATER)
      : NEVER;

  return {
    get: (resource, ref, options) =>
      defer(() => {
        mirror.refresh(resource);
        return of(typed<typeof resource>(getObject(mirror, resource, ref, options?.resourceVersion)));
      }),
    list: (resource, options = {}) =>
      defer(() => {
        mirror.refresh(resource);
        const { metadata, items } = listObjects(mirror, resource, options);
        return of({ metadata, items: items.map((item) => typed<typeof resource>(item)) });
      }),
    watch: (resource, options = {}) =>
      watched(resource, options) as Observable<ApiWatchEvent<ReturnType<typeof typed<typeof resource>>>>,
  };
}

const asObject = (object: Pod | ReturnType<KubeletQueries["node"]>): ApiObject => untyped(object);

const bookmark = (revision: number): WatchLine => ({
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: String(revision) } },
});

const timeIsOver = ({ timeoutSeconds = 0 }: ApiWatchOptions, clock: Clock): Observable<unknown> =>
  timeoutSeconds > 0 ? longTimer(clock, timeoutSeconds * MS_PER_SECOND) : NEVER;

/** Returns the namespaces of the pods; the default namespace always exists. */
function namespacesOf(pods: readonly Pod[], creationTimestamp: string): readonly ApiObject[] {
  const names = new Set(["default", ...pods.map(({ metadata }) => metadata.namespace)]);
  return [...names].map((name) => ({
    metadata: { name, uid: name, creationTimestamp, labels: { "kubernetes.io/metadata.name": name } },
    status: { phase: "Active" },
  }));
}

/** Names of events are unique, so they serve as UIDs. */
const withUid = (event: ApiEvent): ApiObject => {
  const { name = "" } = event.metadata;
  const { firstTimestamp: creationTimestamp = "" } = event;
  return untyped({ ...event, metadata: { ...event.metadata, uid: name, creationTimestamp } });
};
