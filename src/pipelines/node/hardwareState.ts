/**
 * The state files of the CPU and memory manager, `cpu_manager_state` and `memory_manager_state` in the root directory, as
 * upstream's kubelet writes and reads them: a node changes between both kubelets, and its running pods keep their hardware.
 * For our own pods their checkpoints count; the files are for pods without one. Writes no cell. Bound: one write of each
 * file at a time, the newest state next.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  switchMap,
  tap,
} from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import { currentCpuState, currentMemoryState } from "../../core/hardwareState/currentStates.ts";
import { decodeCpuState, encodeCpuState } from "../../core/hardwareState/cpuState.ts";
import {
  inheritedCpus,
  inheritedMemory,
  type Inherited,
  joinHardware,
} from "../../core/hardwareState/inheritedHardware.ts";
import { decodeMemoryState, encodeMemoryState } from "../../core/hardwareState/memoryState.ts";
import { type Decoded, MAX_STATE_BYTES } from "../../core/hardwareState/stateFile.ts";
import type { PodUid } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { cpuStatePath, memoryStatePath } from "../../core/paths.ts";
import type { Registry } from "../../core/pod/podRegistryTypes.ts";
import { isRestored } from "../../core/topology/nodeHardware.ts";
import type { PodHardware } from "../../core/topology/hardware.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { deadline } from "../../operators/deadline.ts";
import { orElse } from "../../operators/orElse.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeView } from "../../state/nodeState.ts";

type Ports = Pick<KubeletPorts, "files" | "clock" | "telemetry">;
type Config = Pick<KubeletConfig, "directories" | "hardware" | "hardwareState">;

const STATE_MODE = 0o600;
/** Upper bound on the delay of the node's start by a disk without an answer. */
const READ_DEADLINE_MS = 5_000;
/** Delay before a failed write is repeated. */
const WRITE_AGAIN_MS = 10_000;

/** Emits the hardware of pods once, by UID; never errors. A file that cannot be used is said so, and counts as missing. */
export function readHardwareState(ports: Ports, config: Config): Observable<ReadonlyMap<PodUid, PodHardware>> {
  if (config.hardwareState === undefined) return of(new Map());
  let inherited: ReadonlyMap<PodUid, PodHardware> = new Map();
  const read = <T>(path: string, decode: (text: string) => Decoded<T>, inherit: (state: T) => Inherited) =>
    ports.files.readTail(path, MAX_STATE_BYTES).pipe(
      tap((text) => {
        const { log } = ports.telemetry;
        const decoded = decode(text);
        if ("fault" in decoded) {
          log.warn("A state file of the hardware cannot be used; it is written anew", { path, reason: decoded.fault });
          return;
        }
        const { pods, changes } = inherit(decoded.state);
        for (const change of changes) {
          log.warn("The state file of the hardware is from another setup; pods keep what still suits", {
            path,
            change,
          });
        }
        inherited = joinHardware(inherited, pods);
      }),
      deadline(READ_DEADLINE_MS, ports.clock),
      catchError((thrown: unknown) => {
        const error = toKubeletError(thrown);
        if (error.code !== "NotFound") {
          ports.telemetry.log.warn("Cannot read a state file of the hardware", { path, error });
        }
        return EMPTY;
      }),
      ignoreElements(),
    );
  return concat(
    read(cpuStatePath(config.directories), decodeCpuState, (state) => inheritedCpus(state, config.hardware)),
    read(memoryStatePath(config.directories), decodeMemoryState, (state) => inheritedMemory(state, config.hardware)),
    defer(() => of(inherited)),
  );
}

/**
 * Writes each file when its content changes, but not before the registry knows what earlier kubelets gave out; one that is
 * missing at once, as upstream: nothing in it could be lost. Never emits, never errors.
 */
export function writeHardwareState(
  ports: Ports,
  config: Config,
  { registry }: Pick<NodeView, "registry">,
): Observable<never> {
  const { directories, hardware, hardwareState } = config;
  if (hardwareState === undefined) return EMPTY;
  const format = hardwareState.podLevel ? "pods" : "containers";
  const keep = (path: string, textOf: (now: Registry) => string): Observable<never> => {
    let written: string | undefined;
    const write = (text: string): Observable<never> =>
      ports.files.replaceFile(path, text, STATE_MODE).pipe(
        tap({ complete: () => (written = text) }),
        catchError((thrown: unknown) => {
          ports.telemetry.log.warn("Cannot write a state file of the hardware", {
            path,
            error: toKubeletError(thrown),
          });
          return EMPTY;
        }),
        ignoreElements(),
      );
    const again$ = pollAfter(ports.clock, WRITE_AGAIN_MS, () => of(undefined), { immediately: false });
    const missing$ = ports.files.kindOf(path).pipe(
      // A file that cannot be looked at stays until the registry is known.
      orElse(() => EMPTY),
      filter((kind) => kind === undefined),
      switchMap(() => write(textOf(registry.value))),
    );
    const changes$ = defer(() => merge(of(undefined), registry.changes$, again$)).pipe(
      map(() => registry.value),
      filter(isRestored),
      conflateMap(() =>
        defer(() => {
          const text = textOf(registry.value);
          return text === written ? EMPTY : write(text);
        }),
      ),
    );
    return concat(missing$, changes$);
  };
  return merge(
    keep(cpuStatePath(directories), (now) => encodeCpuState(currentCpuState(hardware, now), format)),
    keep(memoryStatePath(directories), (now) => encodeMemoryState(currentMemoryState(hardware, now), format)),
  );
}
