/**
 * `/logs/`: the node's log directory and queries of service logs.
 * Upstream: ServeLogs of the kubelet.
 * Differs from upstream: a symbolic link that leaves the directory is answered with 404.
 */
import type { Context, Hono } from "hono";
import { toKubeletError } from "../core/errors.ts";
import { escapedHtml } from "../core/server/html.ts";
import { httpDate } from "../core/server/httpDate.ts";
import { readNodeLogQuery } from "../core/server/nodeLogQuery.ts";
import { trimmedEnd } from "../core/trimmedEnd.ts";
import type { NodeLogs } from "../ports/nodeLogs.ts";
import { onlyMethods } from "./onlyMethods.ts";

const TEXT = { "content-type": "text/plain; charset=utf-8" };
const HTML = { "content-type": "text/html; charset=utf-8" };
const PREFIX = "/logs/";

/** Adds the routes. `answersQueries` is upstream's enableSystemLogQuery. */
export function addSystemLogRoutes(app: Hono, logs: NodeLogs, answersQueries: boolean): void {
  onlyMethods(app, ["GET"], "/logs/*", async (context) => {
    const path = decoded(context.req.path.slice(PREFIX.length));
    if (path === undefined) return notFound(context);
    if (!answersQueries) return opened(context, logs, path);
    const read = readNodeLogQuery(new URL(context.req.url).searchParams, path);
    if (read.kind === "fault") return context.body(`${read.fault.message}\n`, read.fault.status, TEXT);
    if (read.kind === "none") return opened(context, logs, path);
    if (read.query.kind === "file") return opened(context, logs, read.query.path);
    return context.body(await logs.services(read.query), 200, { "content-type": "text/plain; charset=utf-8" });
  });
}

const notFound = (context: Context): Response => context.body("404 page not found\n", 404, TEXT);

/** Decodes the path; undefined if it is invalid. */
function decoded(path: string): string | undefined {
  try {
    const text = decodeURIComponent(path);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

async function opened(context: Context, logs: NodeLogs, path: string): Promise<Response> {
  try {
    const entry = await logs.open(trimmedEnd(path, "/"));
    const modified = { "last-modified": httpDate(entry.modifiedAt) };
    const isTree = path.endsWith("/") || path === "";
    if (entry.kind === "file") {
      if (isTree) return await sentOn(context, `../${lastName(path)}`, entry.bytes);
      return context.body(entry.bytes, 200, { ...TEXT, ...modified });
    }
    if (!isTree) return await sentOn(context, `${lastName(path)}/`);
    return context.body(listing(entry.names), 200, { ...HTML, ...modified });
  } catch (thrown) {
    if (toKubeletError(thrown).code === "NotFound") return notFound(context);
    throw thrown;
  }
}

const lastName = (path: string): string => encodeURIComponent(path.replace(/\/$/, "").split("/").at(-1) ?? "");

/** Redirects, because a directory URL ends with a slash and a file URL does not. */
async function sentOn(context: Context, location: string, unread?: ReadableStream): Promise<Response> {
  await unread?.cancel();
  return context.body(null, 301, { location });
}

/** Encodes a name as a link. The prefix `./` keeps a name with a colon from being read as an absolute URL. */
const linked = (name: string): string => {
  const text = name.split("/").map(encodeURIComponent).join("/");
  return text.includes(":") ? `./${text}` : text;
};

const listing = (names: readonly string[]): string =>
  `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${names.map((name) => `<a href="${linked(name)}">${escapedHtml(name)}</a>\n`).join("")}</pre>\n`;
