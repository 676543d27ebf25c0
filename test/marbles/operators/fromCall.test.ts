import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { fromCall } from "../../../src/operators/fromCall.ts";
import type { Call } from "../../../src/ports/call.ts";

/** Returns the notifications of a call until its promise has settled. */
async function heard<T>(call: Call<T>, settled: Promise<unknown> = Promise.resolve()): Promise<readonly unknown[]> {
  const log: unknown[] = [];
  call.subscribe({
    next: (value) => log.push(value),
    error: (error: unknown) => log.push({ error }),
    complete: () => log.push("complete"),
  });
  await settled.catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  return log;
}

describe("fromCall", () => {
  it("emits what the promise resolves to, then completes", async () => {
    expect(await heard(fromCall(async () => "value"))).toEqual(["value", "complete"]);
  });

  it("makes no request before it is subscribed", () => {
    let asked = 0;
    fromCall(async () => {
      asked += 1;
    });
    expect(asked).toBe(0);
  });
  it("makes a new request for each subscription", async () => {
    let asked = 0;
    const call = fromCall(async () => {
      asked += 1;
      return asked;
    });
    expect([await heard(call), await heard(call)]).toEqual([
      [1, "complete"],
      [2, "complete"],
    ]);
  });

  it("turns a rejection into a KubeletError", async () => {
    const cause = new Error("broken");
    const unknown = { error: kubeletError("Unknown", "broken", { cause }) };
    expect(await heard(fromCall(() => Promise.reject(cause)))).toEqual([unknown]);
  });
  it("turns a throw before any promise into a KubeletError", async () => {
    const cause = new Error("broken");
    const unknown = { error: kubeletError("Unknown", "broken", { cause }) };
    const throwing = fromCall<never>(() => {
      throw cause;
    });
    expect(await heard(throwing)).toEqual([unknown]);
  });

  it("passes a KubeletError on as it is", async () => {
    const error = kubeletError("NotFound", "no such pod");
    expect(await heard(fromCall(() => Promise.reject(error)))).toEqual([{ error }]);
  });

  it("does not abort the signal of a settled call", async () => {
    const signals: AbortSignal[] = [];
    const call = (run: () => Promise<string>): Call<string> =>
      fromCall((signal) => {
        signals.push(signal);
        return run();
      });
    await heard(call(() => Promise.resolve("value")));
    await heard(call(() => Promise.reject(new Error("broken"))));
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });

  it("aborts the signal on unsubscribe and ignores the later result", async () => {
    const signals: AbortSignal[] = [];
    let settle: (value: string) => void = () => {};
    const answer = new Promise<string>((resolve) => (settle = resolve));
    const log: unknown[] = [];
    const subscription = fromCall((signal) => {
      signals.push(signal);
      return answer;
    }).subscribe({ next: (value) => log.push(value), complete: () => log.push("complete") });
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    subscription.unsubscribe();
    settle("late");
    await answer;
    expect([signals.map(({ aborted }) => aborted), log]).toEqual([[true], []]);
  });
});
