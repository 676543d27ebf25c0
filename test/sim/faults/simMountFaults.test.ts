import type { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { isKubeletError } from "../../../src/core/errors.ts";
import { unmountOrDetach } from "../../../src/pipelines/volumes/unmountOrDetach.ts";
import { createFaultDice } from "../../../src/sim/faults/faultDice.ts";
import { type FaultKind, noFaults } from "../../../src/sim/faults/faultKinds.ts";
import { createMountFaults } from "../../../src/sim/faults/mountFaults.ts";
import { createHeapScheduler } from "../../../src/sim/time/heapScheduler.ts";
import { createSimHost } from "../../../src/sim/host/simHost.ts";
import { createPrng } from "../../../src/sim/prng.ts";
import { createSimClock } from "../../../src/sim/time/simClock.ts";

const VOLUME = "/var/lib/volume";
const TMPFS = { source: "tmpfs", target: VOLUME, fsType: "tmpfs", options: [] };
const LONG_MS = 10 * 60_000;

/** A machine all of whose mounts suffer these faults, each time. */
function machine(...kinds: readonly FaultKind[]) {
  const scheduler = createHeapScheduler();
  const rates = { ...noFaults(), ...Object.fromEntries(kinds.map((kind) => [kind, 1])) };
  const dice = createFaultDice({ seed: 1, rates });
  const host = createSimHost({
    clock: createSimClock(scheduler),
    prng: createPrng(1),
    ...createMountFaults(dice),
  });
  host.files.put(`${VOLUME}/below`, "below");
  const runFor = (ms: number): void => {
    const endMs = scheduler.now() + ms;
    while (scheduler.runNext(endMs));
    scheduler.advanceTo(endMs);
  };
  /** The value or the code of the failure, and after how many milliseconds. */
  const ending = (call: Observable<unknown>): readonly [end: unknown, afterMs: number] => {
    const startMs = scheduler.now();
    let end: readonly [unknown, number] = ["no end", LONG_MS];
    const note = (how: unknown): void => {
      end = [how, scheduler.now() - startMs];
    };
    const running = call.subscribe({
      next: note,
      error: (thrown: unknown) => note(isKubeletError(thrown) ? thrown.code : thrown),
    });
    runFor(LONG_MS);
    running.unsubscribe();
    return end;
  };
  return { ...host, dice, runFor, ending };
}

const mountedAt = ({ mounts }: ReturnType<typeof machine>) => mounts.all().map(({ mountPoint }) => mountPoint);

describe("faults of simulated mounts", () => {
  it("fail without effect", () => {
    const on = machine("mountFails");
    expect([on.ending(on.mounts.mount(TMPFS)), mountedAt(on)]).toEqual([["Io", 0], []]);
  });

  it("lose the response after the effect", () => {
    const on = machine("mountReplyLost");
    expect([on.ending(on.mounts.mount(TMPFS)), mountedAt(on)]).toEqual([["DeadlineExceeded", 0], [VOLUME]]);
  });

  it("take up to a minute", () => {
    const on = machine("mountSlow");
    const [end, afterMs] = on.ending(on.mounts.mount(TMPFS));
    expect([end, afterMs > 0 && afterMs <= 60_000, mountedAt(on)]).toEqual([undefined, true, [VOLUME]]);
  });

  it("continue after the end of the kubelet, or end with it", () => {
    for (const kinds of [["mountSlow"], ["mountSlow", "mountGoesOn"]] as const) {
      const on = machine(...kinds);
      const left = on.mounts.mount(TMPFS).subscribe();
      on.runFor(0);
      left.unsubscribe();
      on.runFor(LONG_MS);
      expect(mountedAt(on)).toEqual(kinds.length === 1 ? [] : [VOLUME]);
    }
  });

  it("are stuck until they are detached", () => {
    const on = machine("unmountStuck");
    on.ending(on.mounts.mount(TMPFS));
    expect(on.ending(on.mounts.unmount(VOLUME, { deadlineMs: 5_000 }))).toEqual(["DeadlineExceeded", 5_000]);
    expect(mountedAt(on)).toEqual([VOLUME]);
    const [end, afterMs] = on.ending(unmountOrDetach(on.mounts, VOLUME, 7_000));
    expect([end, afterMs]).toMatchObject([{ kind: "detached", stuck: { code: "DeadlineExceeded" } }, 7_000]);
    expect([mountedAt(on), on.files.read(`${VOLUME}/below`)]).toEqual([[], "below"]);
  });

  it("end once all faults are healed", () => {
    const on = machine("unmountStuck", "volumeWriteFails");
    on.ending(on.mounts.mount(TMPFS));
    expect(on.ending(on.mounts.unmount(VOLUME))).toEqual(["DeadlineExceeded", 30_000]);
    expect(on.ending(on.volumeFiles.writeAtomic(VOLUME, new Map()))).toEqual(["Io", 0]);
    on.dice.heal();
    expect(on.ending(on.volumeFiles.writeAtomic(VOLUME, new Map()))).toEqual(["changed", 0]);
    expect([on.ending(on.mounts.unmount(VOLUME)), mountedAt(on)]).toEqual([[undefined, 0], []]);
  });

  it("keep mounts when the kubelet ends; a reboot removes them", () => {
    const on = machine();
    on.ending(on.mounts.mount(TMPFS));
    on.files.put(`${VOLUME}/in memory`, "gone with the reboot");
    expect(mountedAt(on)).toEqual([VOLUME]);
    on.reboot();
    expect([mountedAt(on), on.files.read(`${VOLUME}/below`), on.files.read(`${VOLUME}/in memory`)]).toEqual([
      [],
      "below",
      undefined,
    ]);
  });

  it("occur on a full disk, but not in memory", () => {
    const on = machine();
    const files = new Map([["key", { content: new Uint8Array(1), mode: 0o644 }]]);
    on.disk.fill("/", "somebody", { bytes: Infinity });
    expect(on.ending(on.volumeFiles.writeAtomic(VOLUME, files))).toEqual(["ResourceExhausted", 0]);
    on.ending(on.mounts.mount(TMPFS));
    expect(on.ending(on.volumeFiles.writeAtomic(VOLUME, files))).toEqual(["changed", 0]);
  });
});
