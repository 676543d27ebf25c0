/** Get and list at a version, with paging. */
import { API_RESOURCES, type ApiResourceName } from "../api/apiResources.ts";
import type { ApiList, ApiListQuery, ObjectRef } from "../api/apiRequests.ts";
import { badRequest, expired, notFound, tooNew } from "./refusals.ts";
import { parseSelection, type Selection } from "./selectors.ts";
import type { Store } from "./store.ts";
import { keyOf, refOf, type StoredObject } from "./storedObject.ts";
import type { WatchCache } from "./watchCache.ts";

/** The objects of a server and their recent history. */
export interface ObjectWorld {
  readonly store: Store;
  cache(resource: ApiResourceName): WatchCache;
  /** Pods bound to a node, in binding order. */
  podsOn(nodeName: string): readonly StoredObject[];
}

/** Parses a resource version; 0 when absent. Errors: 400. */
export function parseRevision(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  if (!/^\d+$/.test(text)) throw badRequest(`invalid resource version "${text}"`);
  return Number(text);
}

/** Returns one object. Errors: 404; 504 when the server has not reached the version. */
export function getObject(
  world: ObjectWorld,
  resource: ApiResourceName,
  ref: ObjectRef,
  resourceVersion: string | undefined,
): StoredObject {
  const revision = parseRevision(resourceVersion);
  if (revision > world.store.revision) throw tooNew(revision, world.store.revision);
  if (API_RESOURCES[resource].namespaced && (ref.namespace ?? "") === "") {
    throw badRequest("namespace is required: an object is read by namespace and name");
  }
  const object = world.store.get(resource, keyOf(ref));
  if (object === undefined) throw notFound(resource, ref.name);
  return object;
}

interface PageStart {
  /** The revision at which the pages are consistent. */
  readonly revision: number;
  /** Key of the last object of the previous page. */
  readonly after: string;
}

const continueToken = ({ revision, after }: PageStart): string => btoa(JSON.stringify({ rv: revision, start: after }));

function parseContinue(token: string): PageStart {
  try {
    const { rv, start } = JSON.parse(atob(token)) as { readonly rv: number; readonly start: string };
    return { revision: rv, after: start };
  } catch {
    throw badRequest("continue key is not valid");
  }
}

const EXPIRED_CONTINUE =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
  "the continue parameter.";

/** Returns the start of a list and its revision. */
function startOf(world: ObjectWorld, { continue: token, ...options }: ApiListQuery): PageStart {
  if (token !== undefined && token !== "") {
    if (options.resourceVersion !== undefined && options.resourceVersion !== "") {
      throw badRequest("specifying resource version is not allowed when using continue");
    }
    return parseContinue(token);
  }
  const wanted = parseRevision(options.resourceVersion);
  if (wanted > world.store.revision) throw tooNew(wanted, world.store.revision);
  if (options.resourceVersionMatch !== undefined && options.resourceVersion === undefined) {
    throw badRequest("resourceVersionMatch is forbidden unless resourceVersion is provided");
  }
  // A limited list at a version is a list at exactly that version.
  const isExact =
    options.resourceVersionMatch === "Exact" ||
    (options.resourceVersionMatch === undefined && wanted > 0 && (options.limit ?? 0) > 0);
  return { revision: isExact ? wanted : world.store.revision, after: "" };
}

function selected(objects: Iterable<StoredObject>, selection: Selection): readonly (readonly [string, StoredObject])[] {
  const found: (readonly [string, StoredObject])[] = [];
  for (const object of objects) if (selection.matches(object)) found.push([keyOf(refOf(object)), object]);
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Returns a list sorted by key. Errors: 400; 410 for a version or page that is no longer available; 504. */
export function listObjects(
  world: ObjectWorld,
  resource: ApiResourceName,
  options: ApiListQuery,
): ApiList<StoredObject> {
  const selection = parseSelection(resource, options);
  const { revision, after } = startOf(world, options);
  const now = world.store.all(resource);
  const then = revision === world.store.revision ? now : world.cache(resource).at(revision, now);
  if (then === undefined)
    throw expired(after === "" ? `The resourceVersion ${revision} is too old.` : EXPIRED_CONTINUE);
  const node = resource === "pods" && then === now ? selection.required("spec.nodeName") : undefined;
  const all = selected(node === undefined ? then.values() : world.podsOn(node), selection).filter(
    ([key]) => key > after,
  );
  // The watch cache returns everything at once.
  const limit = options.resourceVersion === "0" ? 0 : (options.limit ?? 0);
  const page = limit > 0 ? all.slice(0, limit) : all;
  const items = page.map(([, object]) => object);
  const left = all.length - page.length;
  const metadata = { resourceVersion: String(revision) };
  if (left === 0) return { metadata, items };
  return {
    metadata: {
      ...metadata,
      continue: continueToken({ revision, after: page.at(-1)?.[0] ?? "" }),
      ...(selection.isUnfiltered ? { remainingItemCount: left } : {}),
    },
    items,
  };
}
