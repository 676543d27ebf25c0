/** Answers that serve while the next one is awaited. */
import { describe, expect, it } from "vitest";
import { kept, lastGood } from "../../../src/dockershim/kept.ts";

describe("the last good answer", () => {
  it("serves while a new one is late or fails, and is asked for once at a time", async () => {
    let now = 0;
    const asked: PromiseWithResolvers<string>[] = [];
    const info = lastGood(
      60,
      () => now,
      () => {
        const next = Promise.withResolvers<string>();
        asked.push(next);
        return next.promise;
      },
    );
    const first = info();
    expect(info()).toBe(first);
    asked[0]?.resolve("first");
    expect(await first).toBe("first");
    now = 59;
    expect([await info(), asked.length]).toEqual(["first", 1]);
    now = 60;
    expect([await info(), await info(), asked.length]).toEqual(["first", "first", 2]);
    asked[1]?.reject(new Error("no answer in time"));
    await asked[1]?.promise.catch(() => undefined);
    expect([await info(), asked.length]).toEqual(["first", 3]);
    asked[2]?.resolve("second");
    await asked[2]?.promise;
    expect([await info(), asked.length]).toEqual(["second", 3]);
  });

  it("keeps no failure", async () => {
    let calls = 0;
    const info = lastGood(
      60,
      () => 0,
      () => (++calls === 1 ? Promise.reject(new Error("away")) : Promise.resolve("here")),
    );
    await expect(info()).rejects.toThrow("away");
    expect(await info()).toBe("here");
  });
});

describe("an answer that is kept", () => {
  it("is asked for once at a time, also when it comes after it would be old", async () => {
    let now = 0;
    const asked: PromiseWithResolvers<string>[] = [];
    const count = kept(
      60,
      () => now,
      () => {
        const next = Promise.withResolvers<string>();
        asked.push(next);
        return next.promise;
      },
    );
    const first = count();
    now = 100;
    expect([count() === first, asked.length]).toEqual([true, 1]);
    asked[0]?.resolve("first");
    await first;
    const second = count();
    expect(asked).toHaveLength(2);
    asked[1]?.reject(new Error("none"));
    await expect(second).rejects.toThrow("none");
    expect(count()).not.toBe(second);
    expect(asked).toHaveLength(3);
  });
});
