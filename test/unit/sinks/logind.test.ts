import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lastValueFrom, type Subscription } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import { toKubeletError } from "../../../src/core/errors.ts";
import { createLogind } from "../../../src/sinks/logind.ts";
import { fakeLogind, type FakeLogind, missingForLogind } from "../../support/fakeLogind.ts";
import { mustSkip } from "../../support/mustSkip.ts";
import { realClock } from "../../support/realClock.ts";
import { realFiles } from "../../support/realFiles.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

const TITLE = "the login manager by way of systemd's programs";
const MANAGER = "org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager";

describe.skipIf(mustSkip(TITLE, missingForLogind()))(TITLE, () => {
  const dir = temporaryDirectory();
  let fake: FakeLogind | undefined;
  const open: Subscription[] = [];
  const start = async () => {
    fake = await fakeLogind(dir());
    return { fake, logind: createLogind({ clock: realClock, files: realFiles(), ...fake }) };
  };
  const follow = <T>(stream$: { subscribe(observer: object): Subscription }) => {
    const seen: T[] = [];
    const errors: string[] = [];
    const subscription = stream$.subscribe({
      next: (value: T) => seen.push(value),
      error: (thrown: unknown) => errors.push(toKubeletError(thrown).message),
    });
    open.push(subscription);
    return { seen, errors, subscription };
  };
  afterEach(async () => {
    for (const each of open.splice(0)) each.unsubscribe();
    await fake?.stop();
    fake = undefined;
  });

  it("reads the delay, writes a longer one and makes the login manager read it", async () => {
    const { fake: its, logind } = await start();
    expect(await lastValueFrom(logind.inhibitDelayMs())).toBe(5_000);
    await lastValueFrom(logind.overrideInhibitDelay(40), { defaultValue: undefined });
    expect(await readFile(join(its.settingsDir, "99-kubelet.conf"), "utf8")).toContain(
      "[Login]\nInhibitDelayMaxSec=40\n",
    );
    await lastValueFrom(logind.reload(), { defaultValue: undefined });
    expect(await its.calls()).toEqual([
      `get-property ${MANAGER} InhibitDelayMaxUSec`,
      "call org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager KillUnit ssi " +
        "systemd-logind.service all 1",
    ]);
  });

  it("holds a lock until it is unsubscribed", async () => {
    const { fake: its, logind } = await start();
    const lock = follow<void>(logind.inhibit());
    await waitFor("the lock", () => lock.seen.length === 1);
    const words = [
      ...["--what=shutdown", "--who=kubelet", "--why=Kubelet needs time to handle node shutdown"],
      ...["--mode=delay", "cat", ""],
    ];
    expect(await its.calls()).toEqual([words.join("|")]);
    lock.subscription.unsubscribe();
    await waitFor("the end of the lock", async () => (await its.calls()).includes("released"));
    expect(lock.errors).toEqual([]);
  });

  it("says why it has no lock", async () => {
    const { logind } = await start();
    await writeFile(join(dir(), "refuse"), "Failed to inhibit: Access denied\n");
    const lock = follow<void>(logind.inhibit());
    await waitFor("the refusal", () => lock.errors.length === 1);
    expect([lock.seen, lock.errors[0]]).toEqual([[], expect.stringContaining("Failed to inhibit: Access denied")]);
  });

  it("follows the signals of the bus, and first asks whether a shutdown is under way", async () => {
    const { fake: its, logind } = await start();
    await its.set("PreparingForShutdown", "true");
    const { seen, errors } = follow<boolean>(logind.shutdowns());
    await waitFor("the state", () => seen.includes(true));
    await its.set("PreparingForShutdown", "false");
    await its.emit(false);
    await waitFor("the cancellation", () => seen.at(-1) === false);
    await its.set("PreparingForShutdown", "true");
    await its.emit(true);
    await waitFor("the shutdown", () => seen.at(-1) === true);
    expect(errors).toEqual([]);
    await its.stop();
    await waitFor("the end of the bus", () => errors.length === 1);
  });

  it("has no login manager without its programs", async () => {
    const logind = createLogind({
      clock: realClock,
      files: realFiles(),
      busctl: "/no/busctl",
      inhibit: "/no/inhibit",
    });
    for (const stream$ of [logind.inhibitDelayMs(), logind.inhibit(), logind.shutdowns()]) {
      const { errors } = follow<unknown>(stream$);
      await waitFor("the error", () => errors.length === 1);
      expect(errors[0]).toContain("ENOENT");
    }
  });
});
