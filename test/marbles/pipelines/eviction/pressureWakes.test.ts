/** Wakes of the eviction manager: how soon a crossed threshold is noticed, and how often figures are measured. */
import { defer, map, NEVER, of, takeUntil, throwError, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import type { SignalLooks } from "../../../../src/core/eviction/pressureView.ts";
import type { Threshold } from "../../../../src/core/eviction/thresholds.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { pressureWakes } from "../../../../src/pipelines/eviction/pressureWakes.ts";
import type { Clock } from "../../../../src/ports/clock.ts";
import type { FileSystemUsage, HostUsage, MemoryUsage } from "../../../../src/ports/host.ts";
import type { KubeletPorts } from "../../../../src/ports/kubeletPorts.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const GIB = 1024n ** 3n;
const below = (signal: Threshold["signal"], units: number): Threshold => ({
  signal,
  least: { units },
  graceMs: 0,
  reclaim: undefined,
});
const MEMORY = below("memory.available", 2 ** 30);
const DISK = below("nodefs.available", 100);
const PODS = below("allocatableMemory.available", 100);
const config = (...evictionThresholds: readonly Threshold[]) => ({
  evictionThresholds,
  directories: { rootDir: "/kubelet", podLogsDir: "/logs", containerLogsDir: "/links" },
  separatesDisks: true,
  cgroupsPerQos: true,
  cgroupRoot: "/",
  cgroupDriver: "systemd" as const,
});
const memory = (availableBytes: bigint): MemoryUsage => ({
  availableBytes,
  workingSetBytes: 64n * GIB - availableBytes,
  capacityBytes: 64n * GIB,
  ...{ usageBytes: 0n, rssBytes: 0n, pageFaults: 0n, majorPageFaults: 0n, swapTotalBytes: 0n, swapFreeBytes: 0n },
});
const space = (availableBytes: bigint): FileSystemUsage => ({
  capacityBytes: 1_000n,
  availableBytes,
  usedBytes: 0n,
  inodes: 10n,
  inodesFree: 10n,
});

type Ports = Pick<
  KubeletPorts,
  "clock" | "hostUsage" | "images" | "cgroupUsage" | "telemetry" | "machine" | "memoryEvents"
>;

/** A machine of two CPUs; `looks` are the times at which its figures were measured. */
function machine(clock: Clock, usage: Partial<HostUsage>, memoryEvents?: Ports["memoryEvents"]) {
  const looks: number[] = [];
  const counted: Partial<HostUsage> = Object.fromEntries(
    Object.entries(usage).map(([name, call]) => [
      name,
      (path: string) =>
        defer(() => {
          looks.push(clock.monotonicMs());
          return (call as (path: string) => ReturnType<HostUsage["memory"]>)(path);
        }),
    ]),
  );
  const telemetry = recordingTelemetry();
  const ports = { clock, telemetry, hostUsage: counted, machine: { cpuCount: 2 }, memoryEvents };
  return { ports: ports as unknown as Ports, looks, lines: telemetry.lines };
}
const noLooks = () => createCell<SignalLooks>(new Map());

describe("pressureWakes", () => {
  it(
    "notices a disk that fills at once within 900 ms, and once",
    marbles(({ clock, at, expectObservable }) => {
      const unsub = "   12s !";
      const expected = "1800ms w 8499ms w";

      let available = 900n;
      at(1_001, () => (available = 10n));
      at(5_500, () => (available = 900n));
      at(9_999, () => (available = 10n));
      const { ports } = machine(clock, { fileSystem: () => of(space(available)) });
      const wakes$ = pressureWakes(ports, config(DISK), noLooks()).pipe(map(() => "w"));
      expectObservable(wakes$, unsub).toBe(expected);
    }),
  );

  it(
    "measures memory the more often the closer the threshold is",
    marbles(({ clock, at, expectObservable, flush }) => {
      const unsub = "   8500ms !";
      const expected = "6100ms w";

      let available = 33n * GIB;
      at(4_000, () => (available = 9n * GIB));
      at(5_000, () => (available = 2n * GIB));
      at(6_000, () => (available = GIB / 2n));
      const { ports, looks } = machine(clock, { memory: () => of(memory(available)) });
      const wakes$ = pressureWakes(ports, config(MEMORY), noLooks()).pipe(map(() => "w"));
      expectObservable(wakes$, unsub).toBe(expected);
      flush();
      expect(looks).toEqual([0, 4_900, 5_700, 5_900, 6_100, 7_100, 8_100]);
    }),
  );

  it(
    "measures again after 10 s what cannot be measured",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   25s !";
      const expected = "---";

      const failing = throwError(() => kubeletError("Io", "cannot read /proc/meminfo"));
      const { ports, looks } = machine(clock, { memory: () => failing }, () => NEVER);
      expectObservable(pressureWakes(ports, config(MEMORY), noLooks()), unsub).toBe(expected);
      flush();
      expect(looks).toEqual([0, 10_000, 20_000]);
    }),
  );

  it(
    "passes on memory events of the cgroup of all pods",
    marbles(({ clock, hot, expectObservable, flush }) => {
      const events = "  ---s--s";
      const unsub = "   25s !";
      const expected = "---s--s";

      const paths: string[] = [];
      const events$ = hot<"stall">(events, { s: "stall" });
      const { ports } = machine(clock, { memory: () => of(memory(64n * GIB)) }, (path) => {
        paths.push(path);
        return events$;
      });
      expectObservable(pressureWakes(ports, config(MEMORY), noLooks()), unsub).toBe(expected, { s: "stall" });
      flush();
      expect(paths).toEqual(["/kubepods.slice"]);
    }),
  );

  it(
    "says whether a look or the kernel woke the manager",
    marbles(({ clock, at, hot, expectObservable, flush }) => {
      const events = "  3s l";
      const unsub = "   12s !";
      const expected = "3s w 8399ms w";

      let available = 40n * GIB;
      at(11_000, () => (available = 0n));
      const { ports, lines } = machine(clock, { memory: () => defer(() => of(memory(available))) }, () =>
        hot<"limit">(events, { l: "limit" }),
      );
      const wakes$ = pressureWakes(ports, config(MEMORY), noLooks()).pipe(map(() => "w"));
      expectObservable(wakes$, unsub).toBe(expected);
      flush();
      expect(lines.map(({ level, message, fields }) => [level, message, fields])).toEqual([
        ["debug", "Eviction manager: woken by the kernel", { event: "limit" }],
        ["debug", "Eviction manager: woken by a look", { signals: ["memory.available"] }],
      ]);
    }),
  );

  it(
    "waits for a file system that does not answer, without another attempt, and measures the others meanwhile",
    marbles(({ clock, at, expectObservable, flush }) => {
      const unsub = "   30s !";
      const expected = "11400ms w";

      let available = 40n * GIB;
      at(11_000, () => (available = 0n));
      const { ports, looks } = machine(clock, { fileSystem: () => NEVER });
      const hostUsage = { ...ports.hostUsage, memory: () => defer(() => of(memory(available))) };
      const cell = noLooks();
      const wakes$ = pressureWakes({ ...ports, hostUsage }, config(MEMORY, DISK), cell).pipe(map(() => "w"));
      expectObservable(wakes$, unsub).toBe(expected);
      flush();
      expect([looks, [...cell.value.keys()]]).toEqual([[0], ["memory.available"]]);
    }),
  );

  it.each([
    ["measures images on the disk of the node together with it", 1n, [0, 0, 900, 1_800]],
    ["measures images on a disk of their own in a loop of their own", 2n, [0, 0, 900, 900, 1_800, 1_800]],
  ])("%s", (_title, deviceOfImages, times) =>
    marbles(({ clock, at, expectObservable, flush }) => {
      const unsub = "   1901ms !";
      const expected = "";

      let available = 900n;
      at(1_200, () => (available = 10n));
      const { ports, looks } = machine(clock, { fileSystem: () => of(space(available)) });
      const device = (path: string) => of(path === "/images" ? deviceOfImages : 1n);
      const imageFsInfo = () =>
        of({ imageFilesystems: [{ fsId: { mountpoint: "/images" } }], containerFilesystems: [] });
      const disks = {
        ...ports,
        hostUsage: { ...ports.hostUsage, device },
        images: { imageFsInfo },
      } as unknown as Ports;
      const thresholds = config(DISK, below("imagefs.available", 50));
      const wakes$ = pressureWakes(disks, thresholds, noLooks());
      const crossed$ = wakes$.pipe(map((wake) => (wake as { readonly crossed: readonly string[] }).crossed.join()));
      const seen: string[] = [];
      crossed$.pipe(takeUntil(timer(1_900, clock.scheduler))).subscribe((crossed) => seen.push(crossed));
      expectObservable(NEVER, unsub).toBe(expected);
      flush();
      expect([looks, seen.join()]).toEqual([times, "nodefs.available,imagefs.available"]);
    })(),
  );

  it(
    "notices within 900 ms that images fill the disk of the node, of which the first look finds enough for the node",
    marbles(({ clock, at, expectObservable }) => {
      const unsub = "   9s !";
      const expected = "900ms w";

      let available = 200 * 2 ** 30;
      at(1, () => (available = 99 * 2 ** 30));
      const { ports } = machine(clock, { fileSystem: () => of(space(BigInt(available))) });
      const disks = {
        ...ports,
        hostUsage: { ...ports.hostUsage, device: () => of(1n) },
        images: {
          imageFsInfo: () => of({ imageFilesystems: [{ fsId: { mountpoint: "/images" } }], containerFilesystems: [] }),
        },
      } as unknown as Ports;
      const images = below("imagefs.available", 199.9 * 2 ** 30);
      const wakes$ = pressureWakes(disks, config(DISK, images), noLooks()).pipe(map(() => "w"));
      expectObservable(wakes$, unsub).toBe(expected);
    }),
  );

  it(
    "keeps the latest look at every signal, and its trend",
    marbles(({ clock, at, expectObservable, flush }) => {
      const unsub = "   1801ms !";
      const expected = "";

      let available = 900n;
      at(1_799, () => (available = 840n));
      const { ports } = machine(clock, { fileSystem: () => of(space(available)) });
      const cell = noLooks();
      expectObservable(pressureWakes(ports, config(DISK), cell), unsub).toBe(expected);
      flush();
      const older = { at: 0, available: 900, capacity: 1_000 };
      expect(cell.value.get("nodefs.available")).toEqual({
        observation: { at: 1_800, available: 840, capacity: 1_000 },
        trend: { older, newer: older },
      });
    }),
  );

  it(
    "does nothing without thresholds",
    marbles(({ clock, expectObservable }) => {
      const expected = "|";

      const { ports } = machine(clock, {}, () => NEVER);
      expectObservable(pressureWakes(ports, config(), noLooks())).toBe(expected);
    }),
  );

  it(
    "does nothing for a threshold of all pods without their cgroup",
    marbles(({ clock, expectObservable }) => {
      const expected = "|";

      const { ports } = machine(clock, {});
      expectObservable(pressureWakes(ports, config(PODS), noLooks())).toBe(expected);
    }),
  );
});
