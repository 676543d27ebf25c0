/** The events of a watch: the initial ones, and those made from changes. */
import type { ApiResourceName } from "../api/apiResources.ts";
import type { ApiWatchEvent, ApiWatchOptions } from "../api/apiRequests.ts";
import { type ObjectWorld, parseRevision } from "./reads.ts";
import { expiredStatus } from "./refusals.ts";
import type { Selection } from "./selectors.ts";
import type { StoreChange } from "./store.ts";
import { keyOf, refOf, type StoredObject } from "./storedObject.ts";

/** An event of a watch, as the server builds it. */
export type WatchLine = ApiWatchEvent<StoredObject>;

/** Returns the event of a change for a selection; undefined when the change does not concern it. */
export function lineOf(selection: Selection, { type, object, previous, revision }: StoreChange): WatchLine | undefined {
  const isIn = type !== "DELETED" && selection.matches(object);
  const wasIn = previous !== undefined && selection.matches(previous);
  if (isIn) return { type: wasIn ? "MODIFIED" : "ADDED", object };
  if (!wasIn) return undefined;
  if (type === "DELETED") return { type: "DELETED", object };
  const left = { ...previous, metadata: { ...previous.metadata, resourceVersion: String(revision) } };
  return { type: "DELETED", object: left };
}

/** Returns the initial events of a watch; undefined when its version is too old. */
export function firstLines(
  world: ObjectWorld,
  resource: ApiResourceName,
  selection: Selection,
  options: ApiWatchOptions,
) {
  const revision = parseRevision(options.resourceVersion);
  if (revision > 0 && options.sendInitialEvents !== true) {
    const missed = world.cache(resource).since(revision);
    return missed?.flatMap((change) => lineOf(selection, change) ?? []);
  }
  const found = [...world.store.all(resource).values()].filter((object) => selection.matches(object));
  const sorted = found.sort((a, b) => (keyOf(refOf(a)) < keyOf(refOf(b)) ? -1 : 1));
  const lines: WatchLine[] = sorted.map((object) => ({ type: "ADDED", object }));
  if (options.sendInitialEvents === true && options.allowWatchBookmarks === true) {
    const annotations = { "k8s.io/initial-events-end": "true" };
    const resourceVersion = String(world.store.revision);
    lines.push({ type: "BOOKMARK", object: { metadata: { resourceVersion, annotations } } });
  }
  return lines;
}

/** Returns the error event of a watch whose version is no longer known. */
export const tooOldLine = ({ store }: ObjectWorld, { resourceVersion }: ApiWatchOptions): WatchLine => ({
  type: "ERROR",
  object: expiredStatus(`too old resource version: ${parseRevision(resourceVersion)} (${store.revision})`),
});
