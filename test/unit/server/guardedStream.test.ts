import { VirtualTimeScheduler } from "rxjs";
import { describe, expect, it } from "vitest";
import { guardedStream } from "../../../src/server/guardedStream.ts";
import { virtualClock } from "../../support/marbles.ts";

const MINUTE_MS = 60_000;

/** A guarded stream of these pieces, on time that `pass` moves. */
function guarded(pieces: readonly string[]) {
  const scheduler = new VirtualTimeScheduler();
  const told: string[] = [];
  const left = [...pieces];
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = left.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(Buffer.from(piece));
    },
    cancel: () => void told.push("source cancelled"),
  });
  const stream = guardedStream(source, {
    clock: virtualClock(scheduler),
    stalled: () => void told.push("stalled"),
    ended: () => void told.push("ended"),
  });
  const pass = (ms: number): void => {
    scheduler.maxFrames = scheduler.now() + ms;
    scheduler.flush();
    scheduler.frame = scheduler.maxFrames;
  };
  return { reader: stream.getReader(), told, pass };
}

const textOf = ({ value }: { readonly value?: Uint8Array | undefined }): string => Buffer.from(value ?? []).toString();

describe("guardedStream", () => {
  it("passes pieces on and tells of its end once", async () => {
    const { reader, told, pass } = guarded(["a", "b"]);
    expect([textOf(await reader.read()), textOf(await reader.read()), (await reader.read()).done]).toEqual([
      "a",
      "b",
      true,
    ]);
    pass(2 * MINUTE_MS);
    await reader.cancel();
    expect(told).toEqual(["ended"]);
  });

  it("gives a client a minute for each piece", async () => {
    const { reader, told, pass } = guarded(["a", "b", "c"]);
    await reader.read();
    pass(MINUTE_MS - 1);
    await reader.read();
    pass(MINUTE_MS - 1);
    expect(told).toEqual([]);
    pass(1);
    expect(told).toEqual(["ended", "stalled", "source cancelled"]);
  });

  it("ends with its client", async () => {
    const { reader, told, pass } = guarded(["a", "b"]);
    await reader.read();
    await reader.cancel();
    pass(2 * MINUTE_MS);
    expect(told).toEqual(["ended", "source cancelled"]);
  });
});
