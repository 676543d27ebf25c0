/**
 * Watches for node pressure and writes the cell `pressures`, which node conditions and admission read. Bound: one
 * observation at a time, 10 s after the last one, 10 s for each figure; only figures with a threshold. Upstream: the
 * observations of synchronize of pkg/kubelet/eviction.
 */
import { defer, EMPTY, ignoreElements, map, type Observable, of, switchMap, tap } from "rxjs";
import { nextPressure, noPressureSeen, pressuresOf } from "../../core/eviction/nodePressure.ts";
import { type Observations, observationsOf } from "../../core/eviction/observations.ts";
import type { Signal } from "../../core/eviction/thresholds.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { NodePressures } from "../../core/node/nodeFacts.ts";
import { driverCgroupPath } from "../../core/resources/cgroupDriver.ts";
import { kubepodsCgroupName } from "../../core/resources/podCgroup.ts";
import { sameValue } from "../../core/sameValue.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell } from "../../state/cell.ts";
import { FIGURE_DEADLINE_MS, figuresOf } from "../stats/measuredFigure.ts";

type Ports = Pick<KubeletPorts, "clock" | "hostUsage" | "images" | "cgroupUsage" | "telemetry">;
type Config = Pick<
  KubeletConfig,
  ("evictionThresholds" | "pressureTransitionMs" | "directories") | ("cgroupsPerQos" | "cgroupRoot" | "cgroupDriver")
>;

/** Upstream: evictionMonitoringPeriod. */
const LOOK_EVERY_MS = 10_000;

/** Runs while subscribed. Never emits, never errors: a figure that cannot be measured is no pressure. */
export function nodePressure(ports: Ports, config: Config, pressures: Cell<NodePressures>): Observable<never> {
  const { clock, telemetry } = ports;
  const { evictionThresholds: thresholds, pressureTransitionMs } = config;
  if (thresholds.length === 0) return EMPTY;
  return defer(() => {
    let state = noPressureSeen;
    const look$ = createLook(ports, config);
    const judge = (observations: Observations): void => {
      const now = clock.monotonicMs();
      state = nextPressure(state, thresholds, observations, now);
      const found = pressuresOf(state, pressureTransitionMs, now);
      if (sameValue(found, pressures.value)) return;
      const left = Object.fromEntries([...observations].map(([signal, { available }]) => [signal, available]));
      telemetry.log.warn("Eviction manager: node conditions changed", { pressures: found, left });
      pressures.set(found);
    };
    return pollAfter(clock, LOOK_EVERY_MS, () => look$.pipe(tap(judge), ignoreElements()));
  });
}

/** Measures the figures with thresholds. */
function createLook(ports: Ports, config: Config): Observable<Observations> {
  const { hostUsage } = ports;
  const signals = new Set<Signal>(config.evictionThresholds.map(({ signal }) => signal));
  const isAsked = (...of: readonly Signal[]): boolean => of.some((signal) => signals.has(signal));
  const podsMemory$ = podsMemory(ports, config);
  const calls = {
    ...(isAsked("memory.available") && { memory: hostUsage.memory() }),
    ...(isAsked("allocatableMemory.available") && podsMemory$ && { pods: podsMemory$ }),
    ...(isAsked("pid.available") && { pids: hostUsage.pids() }),
    ...(isAsked("nodefs.available", "nodefs.inodesFree") && {
      nodeFs: hostUsage.fileSystem(config.directories.rootDir),
    }),
    ...(isAsked("imagefs.available", "imagefs.inodesFree") && { imageFs: imageFs(ports) }),
  };
  return figuresOf(calls, ports).pipe(map(observationsOf));
}

/** Returns the memory of the cgroup around all pods, if there is one. */
function podsMemory({ cgroupUsage }: Ports, config: Config) {
  if (cgroupUsage === undefined || !config.cgroupsPerQos) return undefined;
  const path = driverCgroupPath(config.cgroupDriver, kubepodsCgroupName(config));
  return cgroupUsage.read([path], () => ({})).pipe(map(([found]) => found?.figures));
}

/** Asks the runtime for its image file system until it has answered. */
function imageFs({ hostUsage, images }: Ports) {
  let place: string | undefined;
  const place$ = images.imageFsInfo({}, { deadlineMs: FIGURE_DEADLINE_MS }).pipe(
    map(({ imageFilesystems: [found] }) => found?.fsId?.mountpoint ?? ""),
    tap((found) => (place = found)),
  );
  return defer(() => (place === undefined ? place$ : of(place))).pipe(switchMap((path) => hostUsage.fileSystem(path)));
}
