import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createMountTools } from "../../../../src/sinks/mounts/mountTools.ts";
import { createToolLock } from "../../../../src/sinks/mounts/toolLock.ts";
import { findProgram } from "../../../support/findProgram.ts";
import { mustSkip } from "../../../support/mustSkip.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";
import { temporaryDirectory } from "../../../support/temporaryDirectory.ts";
import { waitFor } from "../../../support/waitFor.ts";

const patience = { beforeKillSeconds: 0, afterKillSeconds: 0 };
const MISSING = findProgram("flock") === undefined ? ["flock (Debian: util-linux)"] : [];

describe.skipIf(mustSkip("the lock of tools for mounts", MISSING))("the lock of tools for mounts", () => {
  const dir = temporaryDirectory();
  const started: ChildProcess[] = [];
  afterEach(() => {
    for (const child of started.splice(0)) child.kill("SIGKILL");
  });

  const file = (): string => join(dir(), "lock");
  const lockOf = (telemetry = recordingTelemetry(), waits = patience) =>
    createToolLock({ file: file(), log: telemetry.log, patience: waits });
  /** A program of this name that works at `/mnt/x` with the lock of an earlier kubelet, until the gate opens. */
  const leave = async (name: string): Promise<ChildProcess> => {
    const [program, gate] = [join(dir(), name), join(dir(), "gate")];
    execFileSync("mkfifo", [gate]);
    await writeFile(program, `#!/bin/sh\necho at work\nread _ <${gate} || exit 0\n`);
    await chmod(program, 0o755);
    const child = spawn("flock", ["-F", "-x", file(), program, "/mnt/x"], { stdio: ["ignore", "pipe", "inherit"] });
    started.push(child);
    if (child.stdout !== null) await once(child.stdout, "data");
    return child;
  };
  const openGate = async (): Promise<void> => (await open(join(dir(), "gate"), "w")).close();

  it("is acquired at once without an earlier kubelet, and kept", async () => {
    const telemetry = recordingTelemetry();
    const lock = lockOf(telemetry);
    expect(await lock.enter("/mnt/x")).toBe(await lock.enter());
    expect(telemetry.lines).toEqual([]);
    expect(spawnSync("flock", ["-n", "-x", file(), "true"]).status).toBe(1);
  });

  it.each(["mount", "umount", "mount.nfs"])("waits for the end of %s, which it kills", async (name) => {
    const left = await leave(name);
    const ended = once(left, "exit");
    const telemetry = recordingTelemetry();
    await lockOf(telemetry, { ...patience, afterKillSeconds: 10 }).enter("/mnt/x");
    expect(await ended).toEqual([null, "SIGKILL"]);
    expect(telemetry.lines).toEqual([
      {
        level: "warn",
        message: "Ending mount tools of an earlier kubelet",
        fields: { processes: [`${name} (process ${left.pid})`] },
      },
    ]);
  });

  it("blocks only the path of a holder that cannot be killed", async () => {
    const left = await leave("mountd");
    const lock = lockOf();
    await expect(lock.enter("/mnt/x")).rejects.toMatchObject({
      code: "Conflict",
      message: `mountd (process ${left.pid}) of an earlier kubelet is still at work at /mnt/x`,
    });
    await lock.enter("/mnt/y");
    await lock.enter();
    const ended = once(left, "exit");
    await openGate();
    expect(await ended).toEqual([0, null]);
    await lock.enter("/mnt/x");
    expect(spawnSync("flock", ["-n", "-x", file(), "true"]).status).toBe(1);
  });

  it.each([true, false])(
    "is inherited by tools, so that the next kubelet finds them, started by a shell: %s",
    async (mayUseShell) => {
      const tools = createMountTools(lockOf());
      const { signal } = new AbortController();
      const gate = join(dir(), "gate");
      const what = "show what is open";
      const args = ["-c", `readlink /proc/$$/fd/* >${gate} || true`];
      await tools.runFor(signal)({ program: "sh", args, what, mayUseShell });
      expect(execFileSync("cat", [gate], { encoding: "utf8" }).split("\n")).toContain(file());
    },
  );

  it.each([true, false])(
    "blocks another attempt while the abandoned one works, by a shell: %s",
    async (mayUseShell) => {
      const tools = createMountTools(lockOf());
      const abort = new AbortController();
      await tools.enter("/mnt/x");
      const run = tools.runFor(abort.signal)({
        program: "sleep",
        args: ["60", "/mnt/x"],
        what: "mount it",
        mayUseShell,
      });
      await tools.enter("/mnt/y");
      abort.abort();
      await expect(run).rejects.toMatchObject({ code: "Cancelled" });
      await expect(tools.enter("/mnt/x")).rejects.toMatchObject({
        code: "Conflict",
        message: "cannot mount it: the previous attempt has not ended yet",
      });
      await waitFor("its end", async () => (await tools.enter("/mnt/x")) === undefined && true);
    },
  );

  it("fails with NotFound when its file cannot be created", async () => {
    const lock = createToolLock({ file: join(dir(), "none", "lock"), log: recordingTelemetry().log });
    await expect(lock.enter()).rejects.toMatchObject({
      code: "NotFound",
      message: expect.stringMatching(/^cannot open /),
    });
  });
});
