import { expect, it } from "vitest";
import type { DockerCalls } from "../../../src/dockershim/dockerCalls.ts";
import { createWritableSizes } from "../../../src/dockershim/writableSizes.ts";

/** Lists of Docker that end when the test says so. */
function counted() {
  const clock = { ms: 0 };
  const asked: PromiseWithResolvers<unknown>[] = [];
  const list = () => {
    asked.push(Promise.withResolvers());
    return asked.at(-1)?.promise;
  };
  const sizes = createWritableSizes({ list } as unknown as DockerCalls, () => clock.ms);
  const answer = async (bytes: bigint): Promise<void> => {
    asked.at(-1)?.resolve([{ id: "a", writableBytes: bytes }]);
    await sizes.total();
  };
  return { clock, asked, sizes, answer };
}

it("never lets a reading wait for a count, and counts at most once a minute", async () => {
  const { clock, asked, sizes, answer } = counted();
  expect([sizes.of("a"), sizes.of("a"), asked.length]).toEqual([undefined, undefined, 1]);
  await answer(7n);
  clock.ms = 59_999;
  expect([sizes.of("a"), sizes.of("b"), asked.length]).toEqual([7n, undefined, 1]);
  clock.ms = 60_000;
  expect([sizes.of("a"), asked.length]).toEqual([7n, 2]);
  await answer(9n);
  expect([sizes.of("a"), await sizes.total()]).toEqual([9n, 9n]);
});

it("counts again after a failure", async () => {
  const { asked, sizes, answer } = counted();
  const failed = sizes.total();
  asked[0]?.reject(new Error("away"));
  await expect(failed).rejects.toThrow("away");
  expect([sizes.of("a"), asked.length]).toEqual([undefined, 2]);
  await answer(1n);
  expect(sizes.of("a")).toBe(1n);
});
