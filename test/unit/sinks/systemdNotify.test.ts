import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lastValueFrom } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import { toKubeletError } from "../../../src/core/errors.ts";
import type { Call } from "../../../src/ports/call.ts";
import { createSimClock } from "../../../src/sim/time/simClock.ts";
import { createHeapScheduler } from "../../../src/sim/time/heapScheduler.ts";
import { createSystemdNotify } from "../../../src/sinks/systemdNotify.ts";
import { mustSkip } from "../../support/mustSkip.ts";
import { missingForNotifySocket, type NotifySocket, openNotifySocket } from "../../support/notifySocket.ts";
import { realClock } from "../../support/realClock.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

const TITLE = "notifications by systemd-notify";
const isRoot = process.getuid?.() === 0;

/** `sent`, or code and message of the error. */
const outcome = (call: Call<void>): Promise<string> =>
  lastValueFrom(call, { defaultValue: undefined }).then(
    () => "sent",
    (thrown: unknown) => `${toKubeletError(thrown).code}: ${toKubeletError(thrown).message}`,
  );

describe.skipIf(mustSkip(TITLE, missingForNotifySocket()))(TITLE, () => {
  const dir = temporaryDirectory();
  let open: NotifySocket | undefined;
  afterEach(async () => {
    await open?.close();
    open = undefined;
  });

  it.each([
    ["a path", () => join(dir(), "notify.sock")],
    ["an abstract socket", () => `@rxlet-test-${process.pid}`],
  ])("reach %s in one message each, as root in the name of the main process", async (_, place) => {
    const socket = place();
    const received = (open = await openNotifySocket(dir(), socket));
    const manager = createSystemdNotify({ clock: realClock, socket, pid: process.ppid });
    const calls = [
      manager.notify(["READY=1", "STATUS=2 pods; container runtime is down: -x"]),
      manager.notify(["WATCHDOG=1"]),
    ];
    for (const call of calls) expect(await outcome(call)).toBe("sent");
    const main = `MAINPID=${process.ppid}`;
    await waitFor("both messages", () => received.messages().length === 2);
    expect(received.messages().map(({ assignments }) => assignments)).toEqual([
      [main, "READY=1", "STATUS=2 pods; container runtime is down: -x"],
      [main, "WATCHDOG=1"],
    ]);
    if (isRoot) expect(received.messages().map(({ pid }) => pid)).toEqual([process.ppid, process.ppid]);
  });

  it("name the socket that is not there", async () => {
    const socket = join(dir(), "gone.sock");
    const manager = createSystemdNotify({ clock: realClock, socket, pid: process.pid });
    expect(await outcome(manager.notify(["READY=1"]))).toBe(
      `Io: systemd-notify cannot send to ${socket}: Failed to notify init system: No such file or directory`,
    );
  });

  it("name the program that is not there", async () => {
    const manager = createSystemdNotify({ clock: realClock, socket: "@x", pid: process.pid, program: "/no/notify" });
    expect(await outcome(manager.notify(["READY=1"]))).toBe("NotFound: cannot run /no/notify: ENOENT");
  });

  it("end a program that does not end, after five seconds, even if it ignores signals", async () => {
    const program = join(dir(), "hangs");
    const pidFile = join(dir(), "pid");
    await writeFile(
      program,
      `#!/bin/sh\ntrap '' TERM INT\necho $$ >"${pidFile}.new"\nmv "${pidFile}.new" "${pidFile}"\nwhile :; do sleep 1; done\n`,
    );
    await chmod(program, 0o755);
    const scheduler = createHeapScheduler();
    const manager = createSystemdNotify({
      clock: createSimClock(scheduler),
      socket: "@x",
      pid: process.pid,
      program,
    });
    const late = outcome(manager.notify(["READY=1"]));
    const pid = Number(await waitFor("the program to hang", () => readFile(pidFile, "utf8")));
    scheduler.runUntilIdle(10);
    expect([await late, scheduler.now()]).toEqual([
      `DeadlineExceeded: ${program}: @x has not taken the message within 5000 ms`,
      5_000,
    ]);
    await waitFor("the program to end", () => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    });
  });
});
