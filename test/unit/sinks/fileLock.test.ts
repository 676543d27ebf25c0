/** The lock of a file, with flock(1) of this machine. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { firstValueFrom, type Subscription } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import { fileLock, type HeldLock } from "../../../src/sinks/fileLock.ts";
import { lockContention } from "../../../src/sources/lockContention.ts";
import { systemClock } from "../../../src/sources/systemClock.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

describe("fileLock", () => {
  const directory = temporaryDirectory();
  const taken: HeldLock[] = [];
  const asked: Subscription[] = [];
  afterEach(() => {
    for (const subscription of asked.splice(0)) subscription.unsubscribe();
    for (const lock of taken.splice(0)) lock.release();
  });

  const pathOf = (name: string): string => join(directory(), name);
  function ask(path: string) {
    const seen: { lock?: HeldLock; error?: unknown } = {};
    asked.push(
      fileLock(path).subscribe({
        next: (lock) => {
          taken.push(lock);
          seen.lock = lock;
        },
        error: (error: unknown) => (seen.error = error),
      }),
    );
    return seen;
  }
  const held = (seen: { readonly lock?: HeldLock }) => waitFor("the lock", () => seen.lock);

  it("creates the file for its owner alone", async () => {
    const path = pathOf("new");
    await held(ask(path));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("waits while another process has the lock", async () => {
    const path = pathOf("busy");
    const first = await held(ask(path));
    const second = ask(path);
    const contention = await firstValueFrom(lockContention(path, first, systemClock));
    expect(contention.kind).toBe("waiting");
    expect(second.lock).toBeUndefined();
    first.release();
    await held(second);
  });

  it("keeps a lock that it has when it is unsubscribed, as long as the process lives", async () => {
    const path = pathOf("kept");
    const first = await held(ask(path));
    for (const subscription of asked.splice(0)) subscription.unsubscribe();
    const second = ask(path);
    const contention = await firstValueFrom(lockContention(path, first, systemClock));
    expect([contention.kind, second.lock]).toEqual(["waiting", undefined]);
  });

  it("waits no longer when it is unsubscribed", async () => {
    const path = pathOf("given up");
    const first = await held(ask(path));
    ask(path);
    const { kind, processes } = (await firstValueFrom(lockContention(path, first, systemClock))) as {
      readonly kind: string;
      readonly processes: readonly number[];
    };
    expect([kind, processes.length]).toEqual(["waiting", 1]);
    asked.pop()?.unsubscribe();
    await waitFor("the waiting process to end", () => isGone(processes[0] ?? 0));
  });

  it("errors when the process that has the lock ends", async () => {
    const seen = ask(pathOf("lost"));
    process.kill((await held(seen)).holder, "SIGKILL");
    await waitFor("the error", () => seen.error !== undefined);
    expect(seen.error).toMatchObject({ message: expect.stringMatching(/unable to acquire file lock .*SIGKILL/) });
  });

  it("errors when the file cannot be created", () => {
    const seen = ask(join(directory(), "no", "such", "directory"));
    expect(seen.error).toMatchObject({ message: expect.stringContaining("ENOENT") });
  });
});

describe("lockContention", () => {
  const directory = temporaryDirectory();

  it.each([
    ["removed", (path: string) => rmSync(path)],
    [
      "replaced",
      (path: string) => {
        rmSync(path);
        writeFileSync(path, "");
      },
    ],
  ])("notices a file that is %s", async (what, change) => {
    const path = join(directory(), what);
    const lock = await firstValueFrom(fileLock(path));
    try {
      const contention = firstValueFrom(lockContention(path, lock, systemClock));
      change(path);
      expect(await contention).toEqual({ kind: "replaced" });
    } finally {
      lock.release();
    }
  });

  it("is silent about a process that only opens the file", async () => {
    const path = join(directory(), "read");
    const lock = await firstValueFrom(fileLock(path));
    try {
      const kinds: string[] = [];
      const watch = lockContention(path, lock, systemClock).subscribe(({ kind }) => kinds.push(kind));
      await once(spawn("cat", [path]), "close");
      const waiter = spawn("flock", [path, "true"]);
      await waitFor("the contention", () => kinds.length > 0);
      watch.unsubscribe();
      expect(kinds).toEqual(["waiting"]);
      lock.release();
      await once(waiter, "close");
    } finally {
      lock.release();
    }
  });
});

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
