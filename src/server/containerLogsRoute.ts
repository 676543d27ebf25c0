/**
 * `/containerLogs/{namespace}/{pod}/{container}`: the log of a container; `follow` continues until the container exits.
 * Bound: one piece per reader, read after the previous piece was sent.
 * Upstream: getContainerLogs and GetKubeletContainerLogs.
 */
import type { Context, Hono } from "hono";
import { firstValueFrom, type Observable } from "rxjs";
import { toKubeletError } from "../core/errors.ts";
import { hasContainer, logContainerId } from "../core/logs/logContainer.ts";
import { type LogRefusal, type PodLogOptions, readPodLogOptions, wantedStream } from "../core/logs/podLogOptions.ts";
import type { RuntimeContainer } from "../core/runtime/podRuntimeStatus.ts";
import type { Clock } from "../ports/clock.ts";
import type { ContainerLogs, LogReading } from "../ports/containerLogs.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import { guardedStream } from "./guardedStream.ts";
import { serviceRoute } from "./onlyMethods.ts";
import type { ServerBindings } from "./serverBindings.ts";

export interface ContainerLogsRouteOptions {
  readonly queries: Pick<KubeletQueries, "pods" | "runtimePods">;
  /** Emits after the pods changed. */
  readonly podsChanged$: Observable<unknown>;
  readonly logs: ContainerLogs;
  /** Feature gate PodLogsQuerySplitStreams: a request may select stdout or stderr. */
  readonly splitStreams: boolean;
  readonly clock: Clock;
}

const TEXT = { "content-type": "text/plain; charset=utf-8" };
/** TCP keep-alive interval that detects a vanished follower of a quiet log, in milliseconds. */
const KEEP_ALIVE_MS = 30_000;

/** The log request of a client and the container it refers to. */
interface Wanted {
  readonly reading: Omit<LogReading, "untilEnded">;
  readonly follow: boolean;
  readonly container: RuntimeContainer;
}

/** Adds the route. */
export function addContainerLogsRoute(app: Hono, options: ContainerLogsRouteOptions): void {
  serviceRoute(app, ["GET"], "/containerLogs/:namespace/:pod/:container", (context) => answer(context, options));
}

async function answer(context: Context, options: ContainerLogsRouteOptions): Promise<Response> {
  const wanted = wantedLog(context, options);
  if ("status" in wanted) return context.body(wanted.message, wanted.status, TEXT);
  const { reading, follow, container } = wanted;
  const ended = follow ? whenEnded(container, options) : undefined;
  try {
    const log = await firstValueFrom(options.logs.open({ ...reading, untilEnded: ended?.signal }));
    const { outgoing } = (context.env ?? {}) as Partial<ServerBindings>;
    if (follow) {
      outgoing?.socket?.setTimeout(0);
      outgoing?.socket?.setKeepAlive(true, KEEP_ALIVE_MS);
    }
    return context.body(
      guardedStream(log, () => ended?.stop()),
      200,
      TEXT,
    );
  } catch (thrown) {
    ended?.stop();
    return context.body(toKubeletError(thrown).message, 400, TEXT);
  }
}

function wantedLog(context: Context, { queries, splitStreams, clock }: ContainerLogsRouteOptions): Wanted | LogRefusal {
  const { namespace = "", pod: podName = "", container: name = "" } = context.req.param();
  const options: PodLogOptions | LogRefusal = readPodLogOptions(context.req.queries(), clock.wallTime());
  if ("status" in options) return options;
  const pod = queries.pods().find(({ metadata }) => metadata.namespace === namespace && metadata.name === podName);
  if (pod === undefined) return { status: 404, message: `pod ${JSON.stringify(podName)} does not exist` };
  if (!hasContainer(pod, name)) {
    const where = `container ${JSON.stringify(name)} not found in pod ${JSON.stringify(podName)}`;
    return { status: 404, message: where };
  }
  const stream = wantedStream(options.stream, splitStreams);
  if (typeof stream === "object") return stream;
  const id = logContainerId(pod, name, options.previous);
  if (typeof id === "object") return id;
  const container = containerIn(queries, id.slice(id.indexOf("://") + "://".length));
  if (container === undefined) {
    return {
      status: 400,
      message: `failed to get container status ${JSON.stringify(id)}: the runtime has no such container`,
    };
  }
  const { follow, timestamps, since, tailLines, limitBytes } = options;
  return { reading: { path: container.logPath, stream, timestamps, since, tailLines, limitBytes }, follow, container };
}

const containerIn = (
  { runtimePods }: ContainerLogsRouteOptions["queries"],
  id: string,
): RuntimeContainer | undefined => {
  for (const { containers } of runtimePods()) {
    const found = containers.find((container) => container.id === id);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** Returns a signal that aborts when the container exits; `stop` ends the watch. */
function whenEnded({ id }: RuntimeContainer, { queries, podsChanged$ }: ContainerLogsRouteOptions) {
  const ended = new AbortController();
  const look = (): void => {
    if (containerIn(queries, id)?.state !== "running") ended.abort();
  };
  look();
  const subscription = podsChanged$.subscribe({
    next: look,
    error: () => ended.abort(),
    complete: () => ended.abort(),
  });
  return { signal: ended.signal, stop: () => subscription.unsubscribe() };
}
