import { expect, it } from "vitest";
import { createSharedLock } from "../../../src/cni/sharedLock.ts";

const PATIENT = new AbortController().signal;

/** A lock with tasks that note their begin, and end when the test says so. */
function noted() {
  const lock = createSharedLock();
  const steps: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const task = (name: string) => (): Promise<void> => {
    steps.push(name);
    const gate = Promise.withResolvers<void>();
    gates.set(name, gate);
    return gate.promise;
  };
  return { lock, steps, task, end: (name: string) => gates.get(name)?.resolve() };
}

it("shared tasks run beside each other, and an exclusive one alone, before those that come later", async () => {
  const { lock, steps, task, end } = noted();
  const shared = [lock.shared(task("first")), lock.shared(task("second"))];
  const exclusive = lock.exclusive(task("alone"), PATIENT);
  const later = lock.shared(task("later"));
  end("second");
  await shared[1];
  expect(steps).toEqual(["first", "second"]);
  end("first");
  await expect.poll(() => steps).toEqual(["first", "second", "alone"]);
  end("alone");
  expect(await exclusive).toBe(true);
  await expect.poll(() => steps).toEqual(["first", "second", "alone", "later"]);
  end("later");
  await later;
});

it("an exclusive task without patience left does not run, and lets the others go on", async () => {
  const { lock, steps, task, end } = noted();
  const hanging = lock.shared(task("hanging"));
  const patience = new AbortController();
  const exclusive = lock.exclusive(task("alone"), patience.signal);
  const later = lock.shared(task("later"));
  patience.abort();
  expect(await exclusive).toBe(false);
  await expect.poll(() => steps).toEqual(["hanging", "later"]);
  for (const name of ["hanging", "later"]) end(name);
  await Promise.all([hanging, later]);
  const next = lock.exclusive(task("next"), PATIENT);
  await expect.poll(() => steps).toContain("next");
  end("next");
  expect(await next).toBe(true);
});

it("a task that rejects frees the lock", async () => {
  const { lock } = noted();
  const broken = (): Promise<void> => Promise.reject(new Error("broken"));
  await expect(lock.shared(broken)).rejects.toThrow("broken");
  await expect(lock.exclusive(broken, PATIENT)).rejects.toThrow("broken");
  expect(await lock.exclusive(() => Promise.resolve(), PATIENT)).toBe(true);
  expect(await lock.shared(() => Promise.resolve(1))).toBe(1);
});

it("exclusive tasks run in turn", async () => {
  const { lock, steps, task, end } = noted();
  const both = [lock.exclusive(task("one"), PATIENT), lock.exclusive(task("other"), PATIENT)];
  await expect.poll(() => steps).toEqual(["one"]);
  end("one");
  await expect.poll(() => steps).toEqual(["one", "other"]);
  end("other");
  expect(await Promise.all(both)).toEqual([true, true]);
});
