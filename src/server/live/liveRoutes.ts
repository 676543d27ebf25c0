/**
 * The routes of the live view: the page, its stream, the end of a container's log, and the retry of a pod. Not in upstream.
 * Everything is text or JSON; the page may load nothing from elsewhere.
 */
import type { Context, Hono } from "hono";
import { firstValueFrom } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import { LIVE_HEADER, LIVE_PATHS } from "../../core/live/liveMessages.ts";
import { logContainerId } from "../../core/logs/logContainer.ts";
import { unknownPodMessage } from "../../core/timeline/unknownPod.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ContainerLogs } from "../../ports/containerLogs.ts";
import type { KubeletCommands } from "../../ports/kubeletCommands.ts";
import type { KubeletQueries } from "../../ports/kubeletQueries.ts";
import { guardedStream } from "../guardedStream.ts";
import { allowLongAnswer } from "../longAnswer.ts";
import { onlyMethods, onlyReads } from "../onlyMethods.ts";
import { liveStream } from "./liveStream.ts";
import type { LiveView } from "./liveView.ts";
import type { PageFile } from "./pageFiles.ts";

export interface LiveRoutesOptions {
  readonly view: LiveView;
  readonly clock: Clock;
  readonly queries: Pick<KubeletQueries, "pods" | "runtimePods" | "timelineNames" | "manifestProblems">;
  readonly commands: Pick<KubeletCommands, "retry">;
  readonly logs: ContainerLogs;
  /** Files of the page by name; `index.html` is the page itself. */
  readonly pageFiles: () => Promise<ReadonlyMap<string, PageFile>>;
}

/** Watchers at once; further ones get 503. */
export const MAX_WATCHERS = 16;
const LOG_LINES = 100;
const LOG_BYTES = 64 * 1024;

/** The page runs its own script and style alone. */
const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
    "base-uri 'none'; frame-ancestors 'none'; form-action 'none'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
};

/** Adds the routes. */
export function addLiveRoutes(app: Hono, options: LiveRoutesOptions): void {
  const { queries, commands } = options;
  let watchers = 0;
  onlyMethods(app, ["GET"], LIVE_PATHS.stream, (context) => {
    if (watchers >= MAX_WATCHERS) return context.text(`the live view has ${MAX_WATCHERS} watchers already\n`, 503);
    allowLongAnswer(context);
    watchers += 1;
    const body = liveStream(options.view, resumedAfter(context), options.clock, () => (watchers -= 1));
    return context.body(body, 200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  });
  onlyMethods(app, ["GET"], "/live/logs/:namespace/:name/:container", (context) => logTail(context, options));
  onlyMethods(app, ["POST"], "/live/retry/:namespace/:name", (context) => {
    const { namespace = "", name = "" } = context.req.param();
    if (context.req.header(LIVE_HEADER) === undefined)
      return context.text(`the header ${LIVE_HEADER} is missing\n`, 403);
    if (commands.retry(namespace, name)) return context.text(`${namespace}/${name}: backoffs are reset\n`);
    return context.text(
      `${unknownPodMessage(namespace, name, queries.timelineNames(), queries.manifestProblems())}\n`,
      404,
    );
  });
  onlyReads(app, LIVE_PATHS.page, (context) => pageFile(context, "index.html", options));
  onlyReads(app, `${LIVE_PATHS.page}:file{[a-z.]+}`, (context) =>
    pageFile(context, context.req.param("file") ?? "", options),
  );
}

async function pageFile(context: Context, name: string, { pageFiles }: LiveRoutesOptions): Promise<Response> {
  const file = (await pageFiles()).get(name);
  if (file === undefined) return context.text("404 page not found\n", 404);
  return context.body(new Uint8Array(file.body), 200, { ...PAGE_HEADERS, "content-type": file.type });
}

/** Returns the marble after which the reader goes on; undefined for one that begins. */
function resumedAfter(context: Context): number | undefined {
  const id = context.req.header("last-event-id") ?? "";
  return /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}

async function logTail(context: Context, { queries, logs }: LiveRoutesOptions): Promise<Response> {
  const { namespace, name, container = "" } = context.req.param();
  const pod = queries.pods().find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  if (pod === undefined) return context.text(`there is no pod ${namespace}/${name}\n`, 404);
  const id = logContainerId(pod, container, false);
  if (typeof id === "object") return context.text(`${id.message}\n`, id.status);
  const [, runtimeId = ""] = id.split("://");
  const found = queries
    .runtimePods()
    .flatMap(({ containers }) => containers)
    .find((each) => each.id === runtimeId);
  if (found === undefined) return context.text(`the runtime has no container ${container}\n`, 404);
  try {
    const reading = { path: found.logPath, stream: undefined, timestamps: false, since: undefined };
    const tail = { tailLines: LOG_LINES, limitBytes: LOG_BYTES, untilEnded: undefined };
    const log = await firstValueFrom(logs.open({ ...reading, ...tail }));
    return context.body(
      guardedStream(log, () => {}),
      200,
      { "content-type": "text/plain; charset=utf-8" },
    );
  } catch (thrown) {
    return context.text(`${toKubeletError(thrown).message}\n`, 404);
  }
}
