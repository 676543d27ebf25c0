/** Looks at the node: when they are made, what they measure, and what follows from a figure that is missing. */
import { defer, EMPTY, map, NEVER, type Observable, of, throwError, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Threshold } from "../../../../src/core/eviction/thresholds.ts";
import type { SignalLooks } from "../../../../src/core/eviction/pressureView.ts";
import { NO_EVICTION_VIEW } from "../../../../src/core/eviction/evictionView.ts";
import { emptyRegistry } from "../../../../src/core/pod/podRegistry.ts";
import type { EvictionContext } from "../../../../src/pipelines/eviction/evictionContext.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { NO_PRESSURE, type NodePressures } from "../../../../src/core/node/nodeFacts.ts";
import { ImageFsInfoResponse } from "../../../../src/gen/cri.ts";
import { evictionManager } from "../../../../src/pipelines/eviction/evictionManager.ts";
import type { Clock } from "../../../../src/ports/clock.ts";
import type { CgroupUsage } from "../../../../src/ports/cgroupUsage.ts";
import type { HostUsage, MemoryUsage } from "../../../../src/ports/host.ts";
import type { KubeletPorts } from "../../../../src/ports/kubeletPorts.ts";
import { type Cell, createCell } from "../../../../src/state/cell.ts";
import { marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const below = (signal: Threshold["signal"], units = 100): Threshold => ({
  signal,
  least: { units },
  graceMs: 0,
  reclaim: undefined,
});
const config = (...evictionThresholds: readonly Threshold[]) => ({
  evictionThresholds,
  pressureTransitionMs: 25_000,
  evictionMaxPodGraceSeconds: 0,
  limitsLocalStorage: false,
  nodeName: "node",
  directories: { rootDir: "/kubelet", podLogsDir: "/logs", containerLogsDir: "/links" },
  separatesDisks: true,
  cgroupsPerQos: true,
  cgroupRoot: "/",
  cgroupDriver: "cgroupfs" as const,
});
const space = (availableBytes: bigint) => ({
  capacityBytes: 1_000n,
  availableBytes,
  usedBytes: 0n,
  inodes: 1_000n,
  inodesFree: 1_000n,
});
const memoryOf = (availableBytes: bigint): MemoryUsage => ({
  availableBytes,
  capacityBytes: 1_000n,
  workingSetBytes: 1_000n - availableBytes,
  ...{ usageBytes: 0n, rssBytes: 0n, pageFaults: 0n, majorPageFaults: 0n, swapTotalBytes: 0n, swapFreeBytes: 0n },
});
const away = () => throwError(() => kubeletError("Unavailable", "away"));

/** A manager of a node without pods. */
function nodePressure(
  ports: EvictionContext["ports"],
  given: EvictionContext["config"],
  pressures: Cell<NodePressures>,
  wake$: Observable<unknown> = NEVER,
): Observable<unknown> {
  const cells = {
    registry: createCell(emptyRegistry),
    pressures,
    eviction: createCell(NO_EVICTION_VIEW),
    signalLooks: createCell<SignalLooks>(new Map()),
  };
  const stats = { summary: away, summaryWithoutDirectories: away, diskLayout: away };
  return evictionManager(
    { wake$ },
    {
      ports,
      config: given,
      cells,
      tools: { stats, reclaim: { deleteUnusedImages: () => EMPTY, deleteUnusedContainers: () => EMPTY } },
    },
  );
}

/** Ports of a machine with enough of everything, and what was asked of it. */
function machine(
  clock: Clock,
  hostUsage: Partial<HostUsage> = {},
  imageFsInfo = (): Observable<string> => of("/images"),
  layers = "/images",
) {
  const asked: string[] = [];
  const asking = <T>(what: string, answer: () => Observable<T> | undefined): Observable<T> =>
    defer(() => {
      asked.push(`${clock.monotonicMs()} ${what}`);
      return answer() ?? NEVER;
    });
  const telemetry = recordingTelemetry();
  const usage: Partial<HostUsage> = {
    memory: () => of(memoryOf(500n)),
    pids: () => of({ max: 1_000n, running: 1n }),
    fileSystem: () => of(space(500n)),
    ...hostUsage,
  };
  const cgroupUsage: Partial<CgroupUsage> = {
    read: ([path = ""]) =>
      asking(path, () => of([{ path, figures: { memoryLimit: 1_000, workingSet: 950 } } as never])),
  };
  const ports = {
    clock,
    telemetry,
    hostUsage: {
      memory: () => asking("memory", () => usage.memory?.()),
      pids: () => asking("pids", () => usage.pids?.()),
      fileSystem: (path: string) => asking(path, () => usage.fileSystem?.(path)),
      device: (path: string) => asking(`device of ${path}`, () => of(path.startsWith("/images") ? 1n : 2n)),
    },
    cgroupUsage,
    images: {
      imageFsInfo: () =>
        asking("where are images", imageFsInfo).pipe(
          map((mountpoint) =>
            ImageFsInfoResponse.create({
              imageFilesystems: [{ fsId: { mountpoint } }],
              containerFilesystems: [{ fsId: { mountpoint: layers } }],
            }),
          ),
        ),
    },
  } as unknown as Pick<KubeletPorts, "clock" | "hostUsage" | "images" | "cgroupUsage" | "telemetry">;
  return { ports, asked, telemetry };
}
const text = ({ memory, disk, pid }: NodePressures): string =>
  `${memory ? "m" : ""}${disk ? "d" : ""}${pid ? "p" : ""}` || "o";

describe("observations of the eviction manager", () => {
  it(
    "observes at once and every 10 s, and keeps a pressure for the transition period after its end",
    marbles(({ clock, expectObservable, flush, at }) => {
      const unsub = "            45s !";
      const expectedOutput = "";
      const expectedPressures = "m 29999ms o";

      let available = 99n;
      at(5_000, () => (available = 100n));
      const { ports, telemetry } = machine(clock, {
        memory: () => of(memoryOf(available)),
      });
      const pressures = createCell(NO_PRESSURE);
      expectObservable(nodePressure(ports, config(below("memory.available")), pressures), unsub).toBe(expectedOutput);
      expectObservable(pressures.changes$.pipe(map(text)), unsub).toBe(expectedPressures);
      flush();
      const left = { "memory.available": 99 };
      const met = { "memory.available": "99 available, threshold 100" };
      expect(telemetry.lines[0]).toMatchObject({
        message: "Eviction manager: node conditions changed",
        fields: { pressures: { ...NO_PRESSURE, memory: true }, met, left },
      });
    }),
  );

  it(
    "reads only figures with a threshold",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   25s !";
      const expected = "";

      const { ports, asked } = machine(clock);
      const thresholds = [below("nodefs.available"), below("pid.available")];
      const pressures = createCell(NO_PRESSURE);
      expectObservable(nodePressure(ports, config(...thresholds), pressures), unsub).toBe(expected);
      flush();
      expect(asked).toEqual([0, 10_000, 20_000].flatMap((ms) => [`${ms} pids`, `${ms} /kubelet`]));
    }),
  );

  it(
    "asks for the image file system until it is known",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   25s !";
      const expected = "";

      let answers = 0;
      const { ports, asked } = machine(clock, {}, () => (++answers === 1 ? away() : of("/images")));
      const pressures = createCell(NO_PRESSURE);
      expectObservable(nodePressure(ports, config(below("imagefs.inodesFree")), pressures), unsub).toBe(expected);
      flush();
      expect(asked).toEqual(["0 where are images", "10000 where are images", "10000 /images", "20000 /images"]);
    }),
  );

  it.each([
    [
      "a disk of their own",
      "/layers",
      ["0 where are images", "0 device of /images", "0 device of /layers", "0 device of /kubelet", "0 /layers"],
      "d",
    ],
    [
      "the disk of images",
      "/images/layers",
      ["0 where are images", "0 device of /images", "0 device of /images/layers", "0 device of /kubelet"],
      "o",
    ],
  ])("observes the file system of containers on %s", (_what, layers, calls, pressure) => {
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   1s !";
      const expected = "";

      const { ports, asked } = machine(clock, { fileSystem: () => of(space(50n)) }, undefined, layers);
      const pressures = createCell(NO_PRESSURE);
      expectObservable(nodePressure(ports, config(below("containerfs.available")), pressures), unsub).toBe(expected);
      flush();
      expect([asked, text(pressures.value)]).toEqual([calls, pressure]);
    })();
  });

  it(
    "measures the memory of all pods against their limit",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   1s !";
      const expected = "";

      const { ports, asked } = machine(clock);
      const pressures = createCell(NO_PRESSURE);
      const thresholds = config(below("allocatableMemory.available"));
      expectObservable(nodePressure(ports, thresholds, pressures), unsub).toBe(expected);
      flush();
      expect([asked, text(pressures.value)]).toEqual([["0 /kubepods"], "m"]);
    }),
  );

  it(
    "omits a figure that fails, or takes longer than 10 s",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "            25s !";
      const expectedOutput = "";
      const expectedPressures = "o 9999ms d";

      const { ports, asked } = machine(clock, {
        memory: away,
        pids: () => NEVER,
        fileSystem: () => timer(2_000, clock.scheduler).pipe(map(() => space(1n))),
      });
      const pressures = createCell(NO_PRESSURE);
      const thresholds = [below("memory.available"), below("pid.available"), below("nodefs.available")];
      expectObservable(nodePressure(ports, config(...thresholds), pressures), unsub).toBe(expectedOutput);
      expectObservable(pressures.changes$.pipe(map(text)), unsub).toBe(expectedPressures);
      flush();
      expect(asked.filter((what) => what.endsWith("pids"))).toEqual(["0 pids", "20000 pids"]);
    }),
  );

  it(
    "makes one observation at a time, and ends with its subscriber",
    marbles(({ clock, hot, expectObservable, expectSubscriptions }) => {
      const figure = "    --";
      const figureSubs = "^ 4999ms !";
      const unsub = "     5s !";
      const expected = "";

      const figure$ = hot<bigint>(figure);
      const { ports } = machine(clock, {
        memory: () => figure$.pipe(map(memoryOf)),
      });
      const run$ = nodePressure(ports, config(below("memory.available")), createCell(NO_PRESSURE));
      expectObservable(run$, unsub).toBe(expected);
      expectSubscriptions(figure$).toBe(figureSubs);
    }),
  );

  it(
    "does nothing without thresholds",
    marbles(({ clock, expectObservable, flush }) => {
      const expected = "|";

      const { ports, asked } = machine(clock);
      expectObservable(nodePressure(ports, config(), createCell(NO_PRESSURE))).toBe(expected);
      flush();
      expect(asked).toEqual([]);
    }),
  );

  it(
    "looks at once when it is woken, and then after another 10 s",
    marbles(({ clock, hot, expectObservable, flush }) => {
      const wake = "    3s w";
      const unsub = "   14s !";
      const expected = "";

      const { ports, asked } = machine(clock);
      const run$ = nodePressure(ports, config(below("memory.available")), createCell(NO_PRESSURE), hot(wake));
      expectObservable(run$, unsub).toBe(expected);
      flush();
      expect(asked).toEqual(["0 memory", "3000 memory", "13000 memory"]);
    }),
  );

  it(
    "never makes two looks at once: any number of wakes during a look make one more look",
    marbles(({ clock, hot, expectObservable, flush }) => {
      const wake = "    (ww)-w-w";
      const unsub = "   5s !";
      const expected = "";

      const { ports, asked } = machine(clock, {
        memory: () => timer(2_000, clock.scheduler).pipe(map(() => memoryOf(500n))),
      });
      const run$ = nodePressure(ports, config(below("memory.available")), createCell(NO_PRESSURE), hot(wake));
      expectObservable(run$, unsub).toBe(expected);
      flush();
      expect(asked).toEqual(["0 memory", "2000 memory"]);
    }),
  );
});
