/**
 * A stream on its way to a client. A source that fails says why at the end of what it gave, since the status was sent long
 * ago; upstream does so, too.
 */
import { toKubeletError } from "../core/errors.ts";

/** Passes the source on, a piece when it is asked for; `ended` is called once, however it ends. */
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
