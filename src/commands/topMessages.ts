/** The messages of a node's live view for `rxlet top`. */
import type { IncomingMessage } from "node:http";
import { defer, Observable, switchMap } from "rxjs";
import type { KubeletTarget } from "../cli/targetFlags.ts";
import { kubeletError } from "../core/errors.ts";
import { createLiveEventReader } from "../core/live/liveEvents.ts";
import { LIVE_PATHS, type LiveMessage } from "../core/live/liveMessages.ts";
import { openBody } from "../sinks/kubeletStreams.ts";
import { systemClock } from "../sources/systemClock.ts";
import { refusalOf, targetServer, unanswered } from "./targetServer.ts";

/** Emits the messages of one connection. Errors: Unavailable when it breaks, and those of the server. */
export const liveMessages = (target: KubeletTarget): Observable<LiveMessage> =>
  defer(() => targetServer(target)).pipe(
    switchMap((server) =>
      openBody(`${server.url}${LIVE_PATHS.stream}`, server.access, systemClock).pipe(
        unanswered(server),
        switchMap((answer) => {
          if (!("status" in answer)) return received(answer);
          const { status, text } = answer;
          const off = kubeletError("NotFound", `${server.name} has no live view: start the node with --live-view`);
          throw status === 404 ? off : (refusalOf(server, status, text) ?? kubeletError("Unknown", text.trim()));
        }),
      ),
    ),
  );

const received = (body: IncomingMessage): Observable<LiveMessage> =>
  new Observable<LiveMessage>((subscriber) => {
    const reader = createLiveEventReader();
    body.setEncoding("utf8");
    body.on("data", (piece: string) => {
      try {
        for (const message of reader.take(piece)) subscriber.next(message);
      } catch (thrown) {
        subscriber.error(thrown);
      }
    });
    const broken = (): void => subscriber.error(kubeletError("Unavailable", "the connection broke off"));
    body.on("end", broken).on("error", broken).on("close", broken);
    return () => body.destroy();
  });
