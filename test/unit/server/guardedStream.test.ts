import { describe, expect, it } from "vitest";
import { guardedStream } from "../../../src/server/guardedStream.ts";

/** A guarded stream of these pieces; with `fails` the source breaks behind them. */
function guarded(pieces: readonly string[], fails = false) {
  const reported: string[] = [];
  const left = [...pieces];
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = left.shift();
      if (piece !== undefined) controller.enqueue(Buffer.from(piece));
      else if (fails) controller.error(new Error("the file is gone"));
      else controller.close();
    },
    cancel: () => void reported.push("source cancelled"),
  });
  return { reader: guardedStream(source, () => void reported.push("ended")).getReader(), reported };
}

const textOf = ({ value }: { readonly value?: Uint8Array | undefined }): string => Buffer.from(value ?? []).toString();

describe("guardedStream", () => {
  it("forwards pieces and reports its end once", async () => {
    const { reader, reported } = guarded(["a", "b"]);
    expect([textOf(await reader.read()), textOf(await reader.read()), (await reader.read()).done]).toEqual([
      "a",
      "b",
      true,
    ]);
    await reader.cancel();
    expect(reported).toEqual(["ended"]);
  });

  it("appends the error of its source to the data", async () => {
    const { reader, reported } = guarded(["a"], true);
    expect([textOf(await reader.read()), textOf(await reader.read()), (await reader.read()).done]).toEqual([
      "a",
      "the file is gone",
      true,
    ]);
    expect(reported).toEqual(["ended"]);
  });

  it("cancels its source when the client disconnects", async () => {
    const { reader, reported } = guarded(["a", "b"]);
    await reader.read();
    await reader.cancel();
    expect(reported).toEqual(["ended", "source cancelled"]);
  });
});
