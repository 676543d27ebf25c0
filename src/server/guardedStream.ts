/**
 * A response stream. If the source fails, the error text is appended to the body, because the status was already sent.
 * Upstream does the same.
 */
import { toKubeletError } from "../core/errors.ts";

/**
 * Forwards the source piece by piece on demand. Calls `ended` once, when the stream completes, fails or is cancelled.
 */
export function guardedStream(source: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await reader.read();
          if (!done) return controller.enqueue(value);
        } catch (thrown) {
          controller.enqueue(new TextEncoder().encode(toKubeletError(thrown).message));
        }
        ended();
        controller.close();
      },
      async cancel() {
        ended();
        await reader.cancel();
      },
    },
    { highWaterMark: 0 },
  );
}
