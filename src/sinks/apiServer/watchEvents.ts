/**
 * The events of a watch over HTTP. Applies back-pressure to the connection while events wait for delivery, so that a
 * long stream does not block the event loop. Bounds: one chunk of the connection, one line of MAX_LINE_BYTES.
 */
import { Observable, type Subscription, takeUntil } from "rxjs";
import { answerError } from "../../core/api/apiAnswer.ts";
import { kubeletError } from "../../core/errors.ts";
import { isJsonObject, parseJson } from "../../core/json.ts";
import { createFifo } from "../../operators/fifo.ts";
import type { ApiWatchEvent } from "../../ports/apiServer.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ApiRequest } from "./apiRequests.ts";
import { createLineSplitter } from "./lineSplitter.ts";
import type { Transport } from "./transport.ts";

/** Far more than the largest object: requests are limited to 3 MiB. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const MAX_REFUSAL_BYTES = 64 * 1024;
/** Events delivered per turn of the event loop. */
const EVENTS_PER_TURN = 100;
/** A server sends its response head at once, even without events. */
const HEAD_MS = 60_000;
const TYPES: ReadonlySet<unknown> = new Set(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]);

/** Receives the status code of the response, or undefined without one. */
export type CodeListener = (code: number | undefined) => void;

function eventOf(line: string): ApiWatchEvent<unknown> {
  const event = parseJson(line);
  if (isJsonObject(event) && TYPES.has(event["type"]) && isJsonObject(event["object"])) {
    return event as unknown as ApiWatchEvent<unknown>;
  }
  throw kubeletError("Unknown", `unable to decode an event from the watch stream: ${line.slice(0, 100)}`);
}

/**
 * Streams the events of one request.
 *
 *     pieces    -{a}\n{b}\n{---c}\n--|
 *     events    -(ab)----------c-----|
 *
 * Cancels: aborts the request. Errors: the rejection of the server; Unavailable when the connection breaks; Unknown
 * for a malformed line. Completes with the response, and when its connection is replaced.
 */
export const watchEvents = (
  transport: Transport,
  request: ApiRequest,
  headers: Readonly<Record<string, string>>,
  clock: Clock,
  onCode: CodeListener,
): Observable<ApiWatchEvent<unknown>> =>
  new Observable<ApiWatchEvent<unknown>>((subscriber) => {
    const splitter = createLineSplitter(MAX_LINE_BYTES);
    const waiting = createFifo<string>();
    const refusal: { status: number; retryAfter: string | undefined; body: string }[] = [];
    let turn: Subscription | undefined;
    let isAtEnd = false;
    const deliver = (): void => {
      turn = undefined;
      for (let reported = 0; reported < EVENTS_PER_TURN && waiting.size > 0; reported += 1) {
        subscriber.next(eventOf(waiting.shift() ?? ""));
        if (subscriber.closed) return;
      }
      if (waiting.size > 0) {
        exchange?.pause();
        turn = clock.scheduler.schedule(() => guarded(deliver));
      } else if (isAtEnd) subscriber.complete();
      else exchange?.resume();
    };
    /** Ends the watch with any error that a line or its delivery throws. */
    const guarded = (work: () => void): void => {
      try {
        work();
      } catch (thrown) {
        subscriber.error(thrown);
      }
    };
    const exchange = transport.exchange(request, headers, HEAD_MS, {
      head(status, answerHeaders) {
        onCode(status);
        const { "retry-after": retryAfter } = answerHeaders;
        if (status !== 200) refusal.push({ status, retryAfter, body: "" });
      },
      data(piece) {
        const [refused] = refusal;
        if (refused !== undefined) {
          if (refused.body.length < MAX_REFUSAL_BYTES) refused.body += piece.toString("utf8");
          return;
        }
        guarded(() => {
          for (const line of splitter.push(piece)) waiting.push(line);
          if (turn === undefined) deliver();
        });
      },
      end() {
        isAtEnd = true;
        const [refused] = refusal;
        if (refused !== undefined) subscriber.error(answerError(refused, `${request.method} ${request.path}`));
        else if (splitter.unfinishedBytes > 0) {
          subscriber.error(kubeletError("Unavailable", "the watch ended in the middle of an event"));
        } else if (turn === undefined) subscriber.complete();
      },
      failed(error) {
        if (refusal.length === 0) onCode(undefined);
        subscriber.error(error);
      },
    });
    return () => {
      turn?.unsubscribe();
      exchange.abort();
    };
  }).pipe(takeUntil(transport.replaced$));
