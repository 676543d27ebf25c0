/**
 * The subset of an API server that kubectl needs to inspect this node and its pods: discovery, reads and watches of the
 * node's objects, tables, and pod subresources. Read-only, because manifests are the source of truth.
 */
import type { Context, Hono, MiddlewareHandler } from "hono";
import { firstValueFrom, map } from "rxjs";
import type { ApiResourceName } from "../../core/api/apiResources.ts";
import type { ApiListQuery, ApiWatchOptions } from "../../core/api/apiRequests.ts";
import { type ApiPath, parseApiPath } from "../../core/apiObjects/apiPath.ts";
import {
  API_GROUPS,
  API_VERSIONS,
  apiResourceList,
  OPENAPI_INDEX,
  openApiDocument,
  versionInfo,
} from "../../core/apiObjects/discovery.ts";
import { badRequest } from "../../core/apiObjects/refusals.ts";
import { type ApiObject, typeOf, untyped } from "../../core/apiObjects/storedObject.ts";
import { tableOf, type TableWish, tableWish } from "../../core/apiObjects/tables/table.ts";
import type { ApiWatchEvent } from "../../ports/apiServer.ts";
import type { Clock } from "../../ports/clock.ts";
import type { NodeStats } from "../../ports/nodeStats.ts";
import type { ObjectReader } from "../../ports/objectReader.ts";
import { isHttp2 } from "../lastAnswer.ts";
import { addMetricsApi } from "./metricsApi.ts";
import { addPodSubresources, isPodStreamUrl } from "./podSubresources.ts";
import { failureAnswer, failureStatus, statusAnswer } from "./statusAnswer.ts";
import { watchAnswer } from "./watchAnswer.ts";

export interface LocalApiOptions {
  readonly objects: ObjectReader;
  readonly resources: readonly ApiResourceName[];
  /** Explains, in the error of a write, how to change an object instead. */
  readonly writeHint: string;
}

type Options = LocalApiOptions & {
  readonly clock: Pick<Clock, "wallTime" | "scheduler">;
  readonly stats: Pick<NodeStats, "cpuAndMemory">;
  readonly process: { readonly version: string; readonly platform: string };
};

/** Rejects requests that change an object, before the body is read. */
export const refuseWrites =
  ({ writeHint }: Pick<LocalApiOptions, "writeHint">): MiddlewareHandler =>
  async (context, next) => {
    const { method, path } = context.req;
    const isApi = /^\/apis?\//.test(path);
    if (!isApi || method === "GET" || method === "HEAD" || isPodStreamUrl(path)) return next();
    // The body is never read, so the connection cannot be reused.
    if (!isHttp2(context)) context.header("connection", "close");
    return statusAnswer(context, failureStatus(405, writeHint));
  };

/** Adds the routes of the local API. */
export function addLocalApi(app: Hono, options: Options): void {
  const { resources, process, objects } = options;
  app.get("/api", (context) => context.json(API_VERSIONS));
  app.get("/apis", (context) => context.json(API_GROUPS));
  app.get("/api/v1", (context) => context.json(apiResourceList(resources)));
  app.get("/version", (context) => context.json(versionInfo(`v${process.version}`, process.platform)));
  app.get("/openapi/v3", (context) => context.json(OPENAPI_INDEX));
  app.get("/openapi/v3/api/v1", (context) => context.json(openApiDocument(process.version)));
  addPodSubresources(app, objects);
  addMetricsApi(app, options);
  app.get("/api/v1/*", async (context) => {
    try {
      return await read(context, options);
    } catch (thrown) {
      return failureAnswer(context, thrown);
    }
  });
}

const NOT_THERE = failureStatus(404, "the server could not find the requested resource");

async function read(context: Context, { objects, resources, clock }: Options): Promise<Response> {
  const path = parseApiPath(new URL(context.req.url).pathname);
  if (path === undefined || path.subresource !== undefined || !resources.includes(path.resource)) {
    return statusAnswer(context, NOT_THERE);
  }
  const { resource, namespace, name } = path;
  const query = new URL(context.req.url).searchParams;
  const wish = tableWish(context.req.header("accept"), query.get("includeObject"));
  if (name !== undefined) {
    const object = untyped(await firstValueFrom(objects.get(resource, { ...(namespace && { namespace }), name })));
    return context.json(
      wish === undefined ? object : tableOf(resource, [object], versionOf(object), wish, clock.wallTime()),
    );
  }
  if (["true", "1"].includes(query.get("watch") ?? "")) {
    const lines$ = objects
      .watch(resource, watchOptions(path, query))
      .pipe(
        map((event) => (wish === undefined ? typedBookmark(resource, event) : tableLine(resource, event, wish, clock))),
      );
    return watchAnswer(context, lines$);
  }
  const { metadata, items } = await firstValueFrom(objects.list(resource, listOptions(path, query)));
  const found = items.map(untyped);
  if (wish !== undefined) return context.json(tableOf(resource, found, { ...metadata }, wish, clock.wallTime()));
  const { apiVersion, kind } = typeOf(resource);
  return context.json({ kind: `${kind}List`, apiVersion, metadata, items: found });
}

const versionOf = ({ metadata }: ApiObject) => ({ resourceVersion: metadata?.resourceVersion ?? "" });

type Line = ApiWatchEvent<unknown>;

const typedBookmark = (resource: ApiResourceName, event: Line): unknown =>
  event.type === "BOOKMARK" ? { ...event, object: { ...typeOf(resource), ...event.object } } : event;

/** Converts a watch event to one with a table of one row; a bookmark has an empty table. */
function tableLine(resource: ApiResourceName, event: Line, wish: TableWish, clock: Pick<Clock, "wallTime">): unknown {
  if (event.type === "ERROR") return event;
  const object = event.object as ApiObject;
  const rows = event.type === "BOOKMARK" ? [] : [object];
  return { type: event.type, object: tableOf(resource, rows, versionOf(object), wish, clock.wallTime()) };
}

const given = <T extends object>(options: T): { readonly [K in keyof T]?: Exclude<T[K], undefined | null> } =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined && value !== null)) as never;

/** Reads a numeric query parameter. Throws if it is not a number. */
function count(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? "";
  if (text === "") return undefined;
  if (!/^\d{1,9}$/.test(text)) throw badRequest(`${name}: must be a number, got ${JSON.stringify(text)}`);
  return Number(text);
}

const selectionOf = ({ namespace }: ApiPath, query: URLSearchParams) => ({
  namespace,
  fieldSelector: query.get("fieldSelector"),
  labelSelector: query.get("labelSelector"),
});

const listOptions = (path: ApiPath, query: URLSearchParams): ApiListQuery =>
  given({
    ...selectionOf(path, query),
    resourceVersion: query.get("resourceVersion"),
    resourceVersionMatch: query.get("resourceVersionMatch") as ApiListQuery["resourceVersionMatch"],
    limit: count(query, "limit"),
    continue: query.get("continue"),
  });

const watchOptions = (path: ApiPath, query: URLSearchParams): ApiWatchOptions =>
  given({
    ...selectionOf(path, query),
    resourceVersion: query.get("resourceVersion"),
    allowWatchBookmarks: query.get("allowWatchBookmarks") === "true",
    sendInitialEvents: query.get("sendInitialEvents") === "true" ? true : undefined,
    timeoutSeconds: count(query, "timeoutSeconds"),
  });
