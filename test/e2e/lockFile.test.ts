/** Daemons that share a lock file. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { waitFor } from "../support/waitFor.ts";
import { startRuntime, temporaryDir } from "./embeddedRuntimeSetup.ts";

async function start(folder: string, ...args: readonly string[]): Promise<Daemon> {
  const { socketPath } = await startRuntime(folder);
  const daemon = await startDaemon({ folder, endpoint: `unix://${socketPath}`, args });
  onTestFinished(() => daemon.kill());
  return daemon;
}

const exits = (daemon: Daemon): Promise<number> =>
  waitFor("the daemon to exit", () => (daemon.exitCode === undefined ? undefined : { code: daemon.exitCode })).then(
    ({ code }) => code,
  );

it("a second daemon waits for the first, which exits if the flag asks for it", async () => {
  const path = join(temporaryDir(), "kubelet.lock");
  const first = await start(temporaryDir(), `--lock-file=${path}`, "--exit-on-lock-contention");
  // It answers only once it has the lock.
  const second = await start(temporaryDir(), `--lock-file=${path}`);
  expect(await exits(first)).toBe(0);
  const logged = (await first.logEntries()).map(({ msg }) => msg);
  expect(logged).toContain("Lock file contention: the kubelet exits");
  expect(second.exitCode).toBeUndefined();
});

it("a killed daemon leaves no lock behind", async () => {
  const path = join(temporaryDir(), "kubelet.lock");
  const first = await start(temporaryDir(), `--lock-file=${path}`);
  const waiter = spawn("flock", ["--wait", "60", path, "true"]);
  const ended = once(waiter, "close");
  await first.kill("SIGKILL");
  expect(await ended).toEqual([0, null]);
});

it("ends with 0 when the file is removed", async () => {
  const path = join(temporaryDir(), "kubelet.lock");
  const daemon = await start(temporaryDir(), `--lock-file=${path}`, "--exit-on-lock-contention");
  await rm(path);
  expect(await exits(daemon)).toBe(0);
});
