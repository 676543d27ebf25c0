import { expect, it } from "vitest";
import { createSandboxQueue, MAX_TASKS } from "../../../src/cni/sandboxQueue.ts";
import { InvariantError } from "../../../src/core/invariant.ts";
import { ok, type Result } from "../../../src/core/result.ts";

it("tasks of one sandbox run in turn, those of others beside them", async () => {
  const queue = createSandboxQueue();
  const steps: string[] = [];
  const gate = Promise.withResolvers<void>();
  const task = (name: string, wait?: Promise<void>) => async (): Promise<Result<string>> => {
    steps.push(`${name} begins`);
    await wait;
    steps.push(`${name} ends`);
    return ok(name);
  };
  const first = queue.run("a", task("first", gate.promise));
  const second = queue.run("a", task("second"));
  expect(await queue.run("b", task("other"))).toEqual(ok("other"));
  gate.resolve();
  expect(await Promise.all([first, second])).toEqual([ok("first"), ok("second")]);
  expect(steps).toEqual(["first begins", "other begins", "other ends", "first ends", "second begins", "second ends"]);
});

it("a task that breaks an invariant rejects alone", async () => {
  const queue = createSandboxQueue();
  const broken = queue.run("a", () => Promise.reject(new InvariantError("broken")));
  const next = queue.run("a", () => Promise.resolve(ok(1)));
  await expect(broken).rejects.toThrow("broken");
  expect(await next).toEqual(ok(1));
});

it("more than 256 tasks at once are refused, until one ends", async () => {
  const queue = createSandboxQueue();
  const gate = Promise.withResolvers<Result<void>>();
  const running = Array.from({ length: MAX_TASKS }, (_, index) => queue.run(`${index % 2}`, () => gate.promise));
  const refused = await queue.run("x", () => Promise.resolve(ok(1)));
  expect(refused).toMatchObject({ ok: false, error: { code: "ResourceExhausted", retryable: true } });
  gate.resolve(ok(undefined));
  await Promise.all(running);
  expect(await queue.run("x", () => Promise.resolve(ok(1)))).toEqual(ok(1));
});
