/** Answers on their way to clients that take them, or do not. */
import { EventEmitter } from "node:events";
import { VirtualTimeScheduler } from "rxjs";
import { describe, expect, it } from "vitest";
import { answerToCut } from "../../../src/core/server/answerToCut.ts";
import { createAnswerBudget } from "../../../src/server/answerBudget.ts";
import { virtualClock } from "../../support/marbles.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const MINUTE_MS = 60_000;
const PIECE = 65_536;

class Outgoing extends EventEmitter {
  isDestroyed = false;
  destroy(): this {
    this.isDestroyed = true;
    this.emit("close");
    return this;
  }
}

const fail = (thrown: unknown): never => {
  throw thrown;
};

/** A budget of a MiB, with time that `pass` advances. */
function budget() {
  const scheduler = new VirtualTimeScheduler();
  const telemetry = recordingTelemetry();
  const answers = createAnswerBudget({
    clock: virtualClock(scheduler),
    metrics: telemetry.metrics,
    maxWaitingBytes: 16 * PIECE,
  });
  /** An answer whose client took its first piece. */
  const answer = async (peer: string, bytes: number) => {
    const outgoing = new Outgoing();
    const { body } = answers.guard(new Response("x".repeat(bytes)), peer, outgoing as never, fail);
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    const take = async (): Promise<number | undefined> => (await reader.read()).value?.byteLength;
    await take();
    return { outgoing, reader, take };
  };
  const pass = (ms: number): void => {
    scheduler.maxFrames = scheduler.now() + ms;
    scheduler.flush();
    scheduler.frame = scheduler.maxFrames;
  };
  const cut = (reason: string): number => telemetry.samples.get(`rxlet_answers_cut_off_total{reason="${reason}"}`) ?? 0;
  return { answers, answer, pass, cut };
}

describe("a response", () => {
  it("keeps its status and headers and sends its body in pieces", async () => {
    const { answers } = budget();
    const whole = new Response("x".repeat(PIECE + 1), { status: 207, headers: { a: "b" } });
    const guarded = answers.guard(whole, "p", new Outgoing() as never, fail);
    const pieces: number[] = [];
    for await (const piece of guarded.body ?? []) pieces.push(piece.byteLength);
    expect([guarded.status, guarded.headers.get("a"), pieces]).toEqual([207, "b", [PIECE, 1]]);
  });

  it("allows its client a minute for each piece", async () => {
    const { answer, pass, cut } = budget();
    const { outgoing, take } = await answer("p", 3 * PIECE);
    pass(MINUTE_MS - 1);
    await take();
    pass(MINUTE_MS - 1);
    expect(outgoing.isDestroyed).toBe(false);
    pass(1);
    expect([outgoing.isDestroyed, cut("stall")]).toEqual([true, 1]);
  });

  it("does not time out after its body was taken or its client disconnected", async () => {
    const { answer, pass, cut } = budget();
    const taken = await answer("p", PIECE);
    expect(await taken.take()).toBeUndefined();
    const gone = await answer("p", 2 * PIECE);
    gone.outgoing.emit("close");
    const cancelled = await answer("p", 2 * PIECE);
    await cancelled.reader.cancel();
    pass(2 * MINUTE_MS);
    expect([taken.outgoing.isDestroyed, cut("stall")]).toEqual([false, 0]);
  });

  it("waits for its source without a timeout", async () => {
    const { answers, pass, cut } = budget();
    const outgoing = new Outgoing();
    const silent = new Response(new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) }));
    const reading = answers
      .guard(silent, "p", outgoing as never, fail)
      .body?.getReader()
      .read();
    pass(10 * MINUTE_MS);
    expect([reading instanceof Promise, outgoing.isDestroyed, cut("stall")]).toEqual([true, false, 0]);
  });
});

describe("waiting responses", () => {
  it("are aborted above the bound: the one without progress for longest, of the peer with the most pending data", async () => {
    const { answer, cut } = budget();
    const other = await answer("other", 4 * PIECE);
    const [first, second] = [await answer("greedy", 5 * PIECE), await answer("greedy", 5 * PIECE)];
    await first.take();
    const third = await answer("third", 5 * PIECE);
    expect([other, first, second, third].map(({ outgoing }) => outgoing.isDestroyed)).toEqual([
      false,
      false,
      true,
      false,
    ]);
    expect(cut("limit")).toBe(1);
  });

  it("never exceed the bound, whatever their number", async () => {
    const { answer, cut } = budget();
    const all = [];
    for (let count = 0; count < 100; count += 1) all.push(await answer("p", 4 * PIECE));
    expect([cut("limit"), all.filter(({ outgoing }) => !outgoing.isDestroyed).length]).toEqual([96, 4]);
    expect(await all[99]?.take()).toBe(PIECE);
  });

  it("are aborted for a response that is larger than the bound", async () => {
    const { answer } = budget();
    const small = await answer("p", PIECE);
    const large = await answer("p", 20 * PIECE);
    expect([small.outgoing.isDestroyed, await large.take()]).toEqual([true, PIECE]);
  });
});

describe("answerToCut", () => {
  const waits = (peer: string, bytes: number) => ({ peer, bytes });
  it.each([
    ["nothing", [], undefined],
    ["the first of the peer with most bytes", [waits("a", 1), waits("b", 2), waits("b", 3)], waits("b", 2)],
    ["of several peers with as many bytes the first", [waits("a", 2), waits("b", 2)], waits("a", 2)],
  ])("is %s", (_what, waiting, wanted) => {
    expect(answerToCut(waiting)).toEqual(wanted);
  });
});
