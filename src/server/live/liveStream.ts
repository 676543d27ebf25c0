/**
 * The messages of the live view as server-sent events. A slow reader gets fewer messages, not older ones: a piece is made
 * when the reader has taken the one before. Bounds: one piece per reader, PERIOD_MS between two pieces.
 */
import { type Subscription, timer } from "rxjs";
import { type LiveMessage, MAX_BATCH } from "../../core/live/liveMessages.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LiveView } from "./liveView.ts";

const PERIOD_MS = 100;
/** A reader that is gone is noticed when this is sent. */
const SILENCE_MS = 15_000;
const ALIVE = ": alive\n\n";

/** Returns the events for one reader; `ended` is called once, when the reader is gone. */
export function liveStream(
  view: LiveView,
  after: number | undefined,
  { scheduler }: Pick<Clock, "scheduler">,
  ended: () => void,
): ReadableStream<Uint8Array> {
  const watch = view.watch(after);
  const encoder = new TextEncoder();
  let subscription: Subscription | undefined;
  let hasNews = true;
  let isEnded = false;
  let wake = (): void => {};
  const news = (): Promise<void> =>
    new Promise((resolve) => {
      const silence = timer(SILENCE_MS, scheduler).subscribe(() => resolve());
      wake = () => {
        silence.unsubscribe();
        resolve();
      };
      if (hasNews) wake();
    });
  const pause = (): Promise<void> =>
    new Promise((resolve) => void timer(PERIOD_MS, scheduler).subscribe(() => resolve()));
  return new ReadableStream<Uint8Array>(
    {
      start() {
        subscription = watch.changes$.subscribe(() => {
          hasNews = true;
          wake();
        });
      },
      async pull(controller) {
        await news();
        if (isEnded) return;
        hasNews = false;
        const messages = watch.take();
        // There are more marbles than one message has.
        hasNews ||= messages.some((message) => message.kind === "marbles" && message.marbles.length === MAX_BATCH);
        const text = messages.map(eventText).join("");
        controller.enqueue(encoder.encode(text === "" ? ALIVE : text));
        await pause();
      },
      cancel() {
        isEnded = true;
        wake();
        subscription?.unsubscribe();
        ended();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Returns one event. JSON has no line breaks, so its data is one line. */
function eventText(message: LiveMessage): string {
  const last = message.kind === "marbles" ? message.marbles.at(-1)?.id : undefined;
  const id = last === undefined ? "" : `id: ${last}\n`;
  return `event: ${message.kind}\n${id}data: ${JSON.stringify(message)}\n\n`;
}
