import { expect, it } from "vitest";
import { sharedRead } from "../../../src/fileSystem/sharedRead.ts";

/** Reads that end when the test says so. */
function readable() {
  const ends: { done(text: string): void; fail(): void }[] = [];
  const read = sharedRead(
    () =>
      new Promise<string>((resolve, reject) => {
        ends.push({ done: resolve, fail: () => reject(new Error("no read")) });
      }),
  );
  return { read, ends };
}

it("reads once for all who ask while another read is under way, after that read", async () => {
  const { read, ends } = readable();
  const first = read();
  const others = [read(), read(), read()];
  expect(ends).toHaveLength(1);
  ends[0]?.done("old");
  expect(await first).toBe("old");
  expect(ends).toHaveLength(2);
  ends[1]?.done("new");
  expect(await Promise.all(others)).toEqual(["new", "new", "new"]);
});

it("reads anew for one who asks while the shared read is under way, and once nobody reads", async () => {
  const { read, ends } = readable();
  const first = read();
  const second = read();
  ends[0]?.done("1");
  await first;
  const third = read();
  ends[1]?.done("2");
  expect(await second).toBe("2");
  expect(ends).toHaveLength(3);
  ends[2]?.done("3");
  expect(await third).toBe("3");
  const fourth = read();
  expect(ends).toHaveLength(4);
  ends[3]?.done("4");
  expect(await fourth).toBe("4");
});

it("fails for those who share a read that fails, and for no other", async () => {
  const { read, ends } = readable();
  const first = read();
  const others = [read(), read()];
  ends[0]?.fail();
  await expect(first).rejects.toThrow("no read");
  ends[1]?.done("fine");
  expect(await Promise.all(others)).toEqual(["fine", "fine"]);
});
