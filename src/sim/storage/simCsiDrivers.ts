/**
 * CSI drivers in virtual time. A driver works on one call for a volume at a time and refuses others meanwhile; it goes on with
 * a call whose caller has left, and forgets its calls when it ends. Its mounts are those of the machine. Owns which volumes
 * are busy.
 */
import { defer, finalize, map, type Observable, Subject, throwError } from "rxjs";
import { GrpcStatus } from "../../core/grpcStatus.ts";
import { NodeServiceCapability_RPC_Type as Rpc, type VolumeCapability } from "../../gen/csi.ts";
import { deadline } from "../../operators/deadline.ts";
import type { Clock } from "../../ports/clock.ts";
import type { CsiAddress, CsiClient, CsiDriverPort } from "../../ports/csiDrivers.ts";
import {
  PLUGIN_LATENCY_MS,
  pluginCall,
  refusedCall,
  type SimCsiRpc,
  type SimPluginFaults,
  unlessDead,
} from "../hardware/pluginCall.ts";
import type { SimPluginProcess } from "../hardware/simPluginProcess.ts";
import type { UntimedObservation } from "../simObservation.ts";
import {
  csiFailure,
  type CsiMachine,
  hasLostData,
  isMounted,
  notStaged,
  publish,
  publishDevice,
  stage,
  stageDevice,
  unpublish,
  unstage,
  unstageDevice,
} from "./simCsiMounts.ts";
import type { SimVolumeSizes } from "./simVolumeSizes.ts";

/** The drivers of a simulated machine. */
export const SIM_CSI_DRIVERS = [
  { name: "disk.csi.example.com", isAttached: true, isStaged: true, isGrown: true },
  { name: "share.csi.example.com", isAttached: false, isStaged: true, isGrown: true },
  { name: "plain.csi.example.com", isAttached: false, isStaged: false, isGrown: false },
] as const;

export const isStagedFirst = (driver: string): boolean =>
  SIM_CSI_DRIVERS.some(({ name, isStaged }) => name === driver && isStaged);

/** Whether the node expands the volumes of the driver. */
export const isGrownByNode = (driver: string): boolean =>
  SIM_CSI_DRIVERS.some(({ name, isGrown }) => name === driver && isGrown);

export const isAttachedFirst = (driver: string): boolean =>
  SIM_CSI_DRIVERS.some(({ name, isAttached }) => name === driver && isAttached);

/** Deadlines of the real port. */
const VOLUME_MS = 120_000;
const QUESTION_MS = 10_000;
/** Time after which a driver gives a stuck call up. */
const STUCK_MS = 180_000;

export interface SimCsiOptions {
  readonly clock: Clock;
  readonly faults: SimPluginFaults;
  readonly machine: () => CsiMachine;
  readonly sizes: SimVolumeSizes;
  readonly bootId: () => string;
  readonly processAt: (socket: string) => SimPluginProcess | undefined;
  /** Returns the node's name in the storage system of a driver. */
  readonly nodeIdOf: (driver: string) => string;
  see(observation: UntimedObservation): void;
}

/** Creates the port of the drivers. */
export function createSimCsiDrivers(options: SimCsiOptions): CsiDriverPort {
  const state: Calls = { busy: new Set(), staged: new Set(), asked: 0 };
  return { at: (address) => clientOf(address, options, state) };
}

interface Calls {
  /** Volumes with a call, by driver, start of its process, boot, and volume. */
  readonly busy: Set<string>;
  /** Staged block volumes, by driver, boot and volume. */
  readonly staged: Set<string>;
  /** Number of calls so far. */
  asked: number;
}

function clientOf(address: CsiAddress, options: SimCsiOptions, state: Calls): CsiClient {
  const isStaged = isStagedFirst(address.name);
  const call = (
    rpc: SimCsiRpc,
    volume: string,
    path: string,
    work: (machine: CsiMachine) => void,
    seen: Pick<VolumeCall, "bytes" | "context"> = {},
  ): Observable<unknown> => volumeCall({ rpc, volume, path, work, ...seen, ...address }, options, state);
  const answered = (call$: Observable<unknown>) => call$.pipe(map(() => ({})));
  const blockKey = (volumeId: string): string => `${address.name} ${options.bootId()} ${volumeId}`;
  return {
    ...questionsOf(address, options, isStaged),
    nodeStageVolume: ({ volumeId, stagingTargetPath: path, volumeCapability }) =>
      answered(
        call(
          "NodeStageVolume",
          volumeId,
          path,
          (machine) => {
            if (volumeCapability?.block === undefined) return stage(machine, volumeId, path, volumeCapability?.mount);
            stageDevice(machine, volumeId, path);
            state.staged.add(blockKey(volumeId));
          },
          contextOf(volumeCapability),
        ),
      ),
    nodeUnstageVolume: ({ volumeId, stagingTargetPath: path }) =>
      answered(
        call("NodeUnstageVolume", volumeId, path, (machine) => {
          state.staged.delete(blockKey(volumeId));
          unstage(machine, path);
          // Without a mount, the file is that of a device.
          unstageDevice(machine, path);
        }),
      ),
    nodePublishVolume: ({ volumeId, targetPath: path, stagingTargetPath, readonly, volumeCapability }) =>
      answered(
        call(
          "NodePublishVolume",
          volumeId,
          path,
          (machine) => {
            const isBlock = volumeCapability?.block !== undefined;
            const from = isStaged ? stagingTargetPath : undefined;
            if (!isBlock) return publish(machine, { volumeId, path, readonly, from, wanted: volumeCapability?.mount });
            if (isStaged && !state.staged.has(blockKey(volumeId))) throw notStaged(volumeId, stagingTargetPath);
            publishDevice(machine, volumeId, path);
          },
          contextOf(volumeCapability),
        ),
      ),
    nodeUnpublishVolume: ({ volumeId, targetPath: path }) =>
      answered(call("NodeUnpublishVolume", volumeId, path, (machine) => unpublish(machine, path))),
    nodeGetVolumeStats: () => throwError(() => csiFailure(GrpcStatus.unimplemented, "the driver has no statistics")),
    nodeExpandVolume: ({ volumeId, volumePath: path, capacityRange }) => {
      if (!isGrownByNode(address.name)) {
        return throwError(() => csiFailure(GrpcStatus.unimplemented, "the driver expands no volumes"));
      }
      const bytes = capacityRange?.requiredBytes ?? 0n;
      const work = (machine: CsiMachine): void => {
        if (!isMounted(machine, path)) throw csiFailure(GrpcStatus.notFound, `${volumeId} is not at ${path}`);
        options.sizes.expand(volumeId, bytes);
      };
      return call("NodeExpandVolume", volumeId, path, work, { bytes }).pipe(map(() => ({ capacityBytes: bytes })));
    },
  };
}

/** Questions about the driver itself. */
function questionsOf({ name, endpoint }: CsiAddress, options: SimCsiOptions, isStaged: boolean) {
  const { clock, faults, processAt, nodeIdOf } = options;
  const ask = <T>(rpc: "GetPluginInfo" | "NodeGetInfo" | "NodeGetCapabilities", answer: () => T, lies: readonly T[]) =>
    defer(() => {
      const process = processAt(endpoint);
      if (process === undefined) return refusedCall(endpoint);
      const fate = faults(rpc, name);
      const { died$ } = process;
      const lie = (which: number) => lies[which % lies.length] ?? answer();
      return pluginCall({ clock, fate, deadlineMs: QUESTION_MS, died$, answer, lie });
    });
  const node = { maxVolumesPerNode: 0n, accessibleTopology: undefined };
  const types = [
    isStaged ? Rpc.STAGE_UNSTAGE_VOLUME : Rpc.UNKNOWN,
    ...(isGrownByNode(name) ? [Rpc.EXPAND_VOLUME] : []),
  ];
  return {
    getPluginCapabilities: () =>
      throwError(() => csiFailure(GrpcStatus.unimplemented, "the driver lists no capabilities")),
    getPluginInfo: () =>
      ask("GetPluginInfo", () => ({ name, vendorVersion: "v1" }), [{ name: "another", vendorVersion: "" }]),
    nodeGetInfo: () =>
      ask("NodeGetInfo", () => ({ ...node, nodeId: nodeIdOf(name) }), [
        { ...node, nodeId: "" },
        { ...node, nodeId: "x".repeat(10_000) },
        { ...node, nodeId: name, maxVolumesPerNode: -1n },
      ]),
    nodeGetCapabilities: () =>
      ask("NodeGetCapabilities", () => ({ capabilities: types.map((type) => ({ rpc: { type } })) }), [
        { capabilities: Array.from({ length: 1_000 }, () => ({ rpc: { type: types[0] ?? Rpc.UNKNOWN } })) },
      ]),
  };
}

/** Returns the SELinux context with which a request asks for a mount. */
function contextOf(capability: VolumeCapability | undefined): Pick<VolumeCall, "context"> {
  const context = capability?.mount?.mountFlags.find((flag) => flag.startsWith("context="));
  return context === undefined ? {} : { context };
}

interface VolumeCall extends CsiAddress {
  readonly rpc: SimCsiRpc;
  readonly volume: string;
  readonly path: string;
  readonly bytes?: bigint;
  readonly context?: string;
  readonly work: (machine: CsiMachine) => void;
}

/** Completes with one value once the driver has worked off the call. */
function volumeCall(call: VolumeCall, options: SimCsiOptions, state: Calls): Observable<unknown> {
  const { name, endpoint, rpc, volume, path, bytes, context } = call;
  const { clock, processAt, see } = options;
  return defer((): Observable<unknown> => {
    state.asked += 1;
    const seen = {
      kind: "csi",
      driver: name,
      rpc,
      volume,
      path,
      call: state.asked,
      ...(bytes === undefined ? {} : { bytes }),
      ...(context === undefined ? {} : { context }),
    } as const;
    see({ ...seen, what: "asked" });
    const process = processAt(endpoint);
    const answered$ =
      process === undefined
        ? refusedCall(endpoint)
        : working(call, options, state.busy, process, (what) => see({ ...seen, what })).pipe(
            unlessDead(process.died$),
            deadline(VOLUME_MS, clock),
          );
    return answered$.pipe(finalize(() => see({ ...seen, what: "ended" })));
  });
}

const BUSY = "an operation with the given volume already exists";

/** Works on the call, whether the caller waits or not. */
function working(
  { name, rpc, volume, path, work }: VolumeCall,
  { clock, faults, machine, bootId, sizes }: SimCsiOptions,
  busy: Set<string>,
  process: SimPluginProcess,
  see: (what: "done" | "lost") => void,
): Observable<unknown> {
  const answer$ = new Subject<unknown>();
  const [{ starts }, boot] = [process, bootId()];
  const key = `${name} ${starts} ${boot} ${volume}`;
  const later = (ms: number, action: () => void): void => {
    clock.scheduler.schedule(() => {
      // A driver that ended forgets its calls.
      if (process.isUp && process.starts === starts && bootId() === boot) action();
    }, ms);
  };
  const refuse = (status: number, why: string): void => answer$.error(csiFailure(status, why));
  if (busy.has(key)) {
    later(PLUGIN_LATENCY_MS, () => refuse(GrpcStatus.aborted, BUSY));
    return answer$;
  }
  busy.add(key);
  const fate = faults(rpc, name);
  if (fate.kind === "hang") {
    later(STUCK_MS, () => busy.delete(key));
    return answer$;
  }
  const isUndone = fate.kind === "fail" || (fate.kind === "lie" && rpc.startsWith("NodeUn"));
  later(PLUGIN_LATENCY_MS + (fate.kind === "delay" ? fate.ms : 0), () => {
    busy.delete(key);
    try {
      if (hasLostData(machine(), path)) see("lost");
      if (!isUndone) work(machine());
    } catch (thrown) {
      answer$.error(thrown);
      return;
    }
    if (!isUndone) see("done");
    const isRefused = fate.kind === "fail" && fate.status === GrpcStatus.failedPrecondition;
    if (rpc === "NodeExpandVolume" && isRefused) sizes.refuseInUse(volume);
    if (fate.kind === "fail" || fate.kind === "loseReply") refuse(fate.status ?? GrpcStatus.unavailable, "ill");
    else if (fate.kind === "lie" && !isUndone) refuse(GrpcStatus.internal, "failed, although it is done");
    else answer$.next(undefined);
    answer$.complete();
  });
  return answer$;
}
