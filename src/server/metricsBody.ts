/**
 * A metrics page as a response body. The page is rendered piece by piece as the client takes it, which bounds its memory
 * and the time for which it blocks the event loop. Gzip runs off the event loop.
 * Upstream: promhttp.
 */
import type { Context } from "hono";
import { lastValueFrom, timer } from "rxjs";
import type { Clock } from "../ports/clock.ts";

/** Minimum length of a piece, in characters. */
const PIECE_LENGTH = 32_768;

/** Responds 200 with the concatenated texts and yields to the event loop between two pieces. */
export function metricsAnswer(
  context: Context,
  texts: Iterable<string>,
  clock: Clock,
  headers: Readonly<Record<string, string>>,
): Response {
  const body = bodyOf(texts, clock);
  if (!acceptsGzip(context.req.header("accept-encoding"))) return context.body(body, 200, { ...headers });
  const compressed = body.pipeThrough(new CompressionStream("gzip"));
  return context.body(compressed, 200, { ...headers, "content-encoding": "gzip" });
}

function bodyOf(texts: Iterable<string>, { scheduler }: Clock): ReadableStream<Uint8Array<ArrayBuffer>> {
  const left = texts[Symbol.iterator]();
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      // A fast client pulls without delay, so the timer yields to other work.
      pull: async (controller) => {
        await lastValueFrom(timer(0, scheduler));
        let piece = "";
        while (piece.length < PIECE_LENGTH) {
          const next = left.next();
          if (next.done === true) {
            if (piece !== "") controller.enqueue(encoder.encode(piece));
            return controller.close();
          }
          piece += next.value;
        }
        controller.enqueue(encoder.encode(piece));
      },
      cancel: () => void left.return?.(),
    },
    { highWaterMark: 0 },
  );
}

/** Returns whether the header accepts gzip with a weight above 0. */
const acceptsGzip = (header: string | undefined): boolean =>
  (header ?? "").split(",").some((each) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(each));
