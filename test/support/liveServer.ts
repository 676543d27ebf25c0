/** Serves the page of the live view with a scripted node, for browser tests and for looking at it. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { LIVE_HEADER, LIVE_PATHS, type LiveMarble, type LiveMessage } from "../../src/core/live/liveMessages.ts";
import { epochMs } from "../../src/core/ids.ts";
import { formatInstantMs } from "../../src/core/time/civilTime.ts";
import type { TimelineView } from "../../src/core/timeline/timelineView.ts";
import { pageFiles } from "../../src/server/live/pageFiles.ts";
import { CRASH, crashRetryAt, createLiveNode, graphOf, HOSTILE, type LiveScript } from "./liveNode.ts";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "base-uri 'none'; frame-ancestors 'none'; form-action 'none'";
const TICK_MS = 100;
const KEPT = 4_000;

export interface LiveServer {
  readonly url: string;
  /** Paths that were asked for, oldest first. */
  readonly asked: readonly string[];
  /** Values of Last-Event-ID of the streams that were opened. */
  readonly resumed: readonly (string | undefined)[];
  /** When the crash loop began. */
  readonly beginning: number;
  /** Ends all streams, and refuses new ones until `accept`. */
  cut(): void;
  accept(): void;
  close(): Promise<void>;
}

/** Listens on a free port of the loopback interface. */
export async function startLiveServer(script: Omit<LiveScript, "now">): Promise<LiveServer> {
  const files = await pageFiles();
  const node = createLiveNode({ ...script, now: Date.now() });
  const kept: LiveMarble[] = [];
  const asked: string[] = [];
  const resumed: (string | undefined)[] = [];
  const streams = new Set<ServerResponse>();
  let isOpen = true;
  let ticks = 0;
  let inSecond: LiveMarble[] = [];
  const tick = (): void => {
    const now = Date.now();
    const marbles = node.advance(now);
    kept.push(...marbles);
    kept.splice(0, Math.max(0, kept.length - KEPT));
    inSecond.push(...marbles);
    if (marbles.length > 0) send(streams, { kind: "marbles", marbles: marbles.slice(-500), dropped: 0 });
    if (ticks % 10 === 0) {
      send(streams, node.flow(now, inSecond));
      inSecond = [];
      send(streams, node.pods(now));
    }
    if (ticks % 20 === 0) send(streams, node.node(now));
    ticks += 1;
  };
  tick();
  const timer = setInterval(tick, TICK_MS);
  const stream = (request: IncomingMessage, response: ServerResponse): void => {
    const last = request.headers["last-event-id"];
    resumed.push(typeof last === "string" ? last : undefined);
    if (!isOpen) return void response.writeHead(503).end();
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write("retry: 300\n\n");
    const now = Date.now();
    const one = new Set([response]);
    send(one, graphOf(now));
    send(one, node.pods(now));
    send(one, node.node(now));
    const missed = kept.filter(({ id }) => id > Number(last ?? 0));
    send(one, { kind: "marbles", marbles: missed, dropped: 0 });
    streams.add(response);
    response.on("close", () => streams.delete(response));
  };
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://node").pathname;
    asked.push(path);
    if (path === LIVE_PATHS.stream) return stream(request, response);
    if (path.startsWith(LIVE_PATHS.page)) {
      const file = files.get(path.slice(LIVE_PATHS.page.length) || "index.html");
      if (file !== undefined) {
        response.writeHead(200, { "content-type": file.type, "content-security-policy": POLICY });
        return void response.end(file.body);
      }
    }
    return answerAboutPod(request, response, path, node.beginning);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${LIVE_PATHS.page}`,
    asked,
    resumed,
    beginning: node.beginning,
    cut() {
      isOpen = false;
      for (const open of streams) open.destroy();
    },
    accept: () => void (isOpen = true),
    async close() {
      clearInterval(timer);
      for (const open of streams) open.destroy();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function send(streams: ReadonlySet<ServerResponse>, message: LiveMessage): void {
  const last = message.kind === "marbles" ? message.marbles.at(-1) : undefined;
  const id = last === undefined ? "" : `id: ${last.id}\n`;
  for (const stream of streams) stream.write(`${id}event: ${message.kind}\ndata: ${JSON.stringify(message)}\n\n`);
}

/** A log with markup and a line of 1 MiB. */
const LOG = `${Array.from({ length: 30 }, (_, at) => `line ${at} ${at % 9 === 0 ? HOSTILE : "served a request"}`).join("\n")}
${"x".repeat(2 ** 20)}
the last line\n`;

function answerAboutPod(request: IncomingMessage, response: ServerResponse, path: string, beginning: number): void {
  if (path.endsWith("/timeline")) {
    response.writeHead(200, { "content-type": "application/json" });
    return void response.end(JSON.stringify(timelineAt(Date.now(), beginning)));
  }
  if (path.startsWith("/live/logs/")) return void response.writeHead(200, { "content-type": "text/plain" }).end(LOG);
  if (path.startsWith("/live/retry/")) {
    const isOwn = request.method === "POST" && request.headers[LIVE_HEADER] !== undefined;
    return void response.writeHead(isOwn ? 200 : 403).end(isOwn ? "backoffs of 1 container reset\n" : "refused\n");
  }
  return void response.writeHead(404).end("not found");
}

const instant = (at: number): string => formatInstantMs(epochMs(at));

/** The timeline of the crash loop. */
function timelineAt(now: number, beginning: number): TimelineView {
  const period = CRASH.runMs + CRASH.backoffMs;
  const retryAt = crashRetryAt(now, beginning);
  const starts = Array.from({ length: Math.floor((now - beginning) / period) + 1 }, (_, at) => beginning + at * period);
  const first = { at: instant(beginning - 1_500), what: "RunPodSandbox", seconds: 0.4 };
  const pull = { at: instant(beginning - 1_100), what: "ImagePull", container: "app", seconds: 1.0 };
  return {
    pod: { namespace: "default", name: CRASH.name, uid: CRASH.uid },
    state: "syncing",
    stateSince: instant(beginning - 1_600),
    phase: "Running",
    at: instant(now),
    waits:
      retryAt === undefined
        ? []
        : [
            {
              what: "CrashLoopBackOff",
              container: "app",
              cause: "back-off 20s restarting failed container=app",
              seconds: (now - (retryAt - CRASH.backoffMs)) / 1000,
              next: { what: "next try", at: instant(retryAt), inSeconds: (retryAt - now) / 1000 },
            },
          ],
    entries: [
      { at: instant(beginning - 1_600), what: "Accepted", message: HOSTILE },
      first,
      pull,
      ...starts.flatMap((at): TimelineView["entries"] => [
        { at: instant(at), what: "StartContainer", container: "app", seconds: 0.12 },
        { at: instant(at + 120), what: "Running", container: "app" },
        ...(at + CRASH.runMs > now
          ? []
          : [
              {
                at: instant(at + CRASH.runMs),
                what: "Exited",
                container: "app",
                seconds: CRASH.runMs / 1000 - 0.12,
                outcome: "failed" as const,
                message: "code 1, Error",
              },
            ]),
      ]),
    ],
    dropped: 0,
  };
}
