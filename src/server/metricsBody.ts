/**
 * A page of metrics as an answer: made piece by piece as the client takes it, so that neither the page nor the time to
 * print it is ever there in one piece; compressed, off the event loop, for who takes that. Counterpart: promhttp.
 */
import type { Context } from "hono";
import { lastValueFrom, timer } from "rxjs";
import type { Clock } from "../ports/clock.ts";

/** Text handed on at once, in characters at least. */
const PIECE_LENGTH = 32_768;

/** Answers 200 with these texts one after the other, and lets the event loop go between two pieces. */
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
      // A fast client takes piece after piece without any wait of its own.
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

/** Whether gzip is named, and not with a weight of 0. */
const acceptsGzip = (header: string | undefined): boolean =>
  (header ?? "").split(",").some((each) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(each));
