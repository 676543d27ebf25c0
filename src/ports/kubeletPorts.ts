/**
 * All side effects of the kubelet in one record: the real world in main.ts, a replacement in tests and the simulation.
 */
import type { Observable } from "rxjs";
import type { KubeletEvent } from "../core/events.ts";
import type { EpochMs, PodUid } from "../core/ids.ts";
import type { SourceSnapshot } from "../core/pod/sourceSnapshot.ts";
import type { RuntimeClasses } from "../core/runtime/runtimeHandler.ts";
import type { ApiLanes } from "./apiServer.ts";
import type { ClusterObjects } from "./clusterObjects.ts";
import type { HostUsage, KernelLog, Machine } from "./host.ts";
import type { Cgroups } from "./cgroup.ts";
import type { CgroupUsage } from "./cgroupUsage.ts";
import type { Clock } from "./clock.ts";
import type { CloudMetadata } from "./cloudMetadata.ts";
import type { ImageService, RuntimeService } from "./cri.ts";
import type { CredentialPlugins } from "./credentials.ts";
import type { CsiDriverPort } from "./csiDrivers.ts";
import type { DraDrivers } from "./draDrivers.ts";
import type { DevicePlugins } from "./devicePlugins.ts";
import type { Files } from "./files.ts";
import type { FlexDrivers } from "./flexDrivers.ts";
import type { HostDisks } from "./hostDisks.ts";
import type { IpTables } from "./ipTables.ts";
import type { IscsiInitiator } from "./iscsi.ts";
import type { KeptTokens } from "./keptTokens.ts";
import type { LogFiles } from "./logFiles.ts";
import type { Logind } from "./logind.ts";
import type { MemoryEvents } from "./memoryEvents.ts";
import type { Mounts } from "./mounts.ts";
import type { NetworkChanges } from "./networkChanges.ts";
import type { ObjectCache } from "./objectCache.ts";
import type { Plugins } from "./plugins.ts";
import type { PodReports } from "./podReports.ts";
import type { Probers } from "./probers.ts";
import type { Processes } from "./processes.ts";
import type { Projections } from "./projections.ts";
import type { Quotas } from "./quotas.ts";
import type { Rng } from "./random.ts";
import type { Sealing } from "./sealing.ts";
import type { Telemetry } from "./telemetry.ts";
import type { Tracing } from "./tracing.ts";
import type { VolumeFiles } from "./volumeFiles.ts";

/** A change of a container or sandbox that the runtime reports. */
export type RuntimeChange = "created" | "started" | "stopped" | "deleted";

/** An item of the runtime's event stream: a reason to inspect the runtime, never a state. */
export type RuntimeSignal =
  /** The event stream is being opened for the first time: relist until it is open. */
  | { readonly kind: "opening" }
  /** The event stream is open: relist now, then rarely. */
  | { readonly kind: "streaming"; readonly via: "cri" | "containerd" }
  /**
   * The event stream broke and is being reopened: relist meanwhile. Emitted once per break, however many attempts
   * follow. `isAway`: the socket does not accept connections, which the runtime status reports too.
   */
  | { readonly kind: "lost"; readonly reason: string; readonly isAway: boolean }
  /** The runtime has no event stream: relist often. */
  | { readonly kind: "unsupported" }
  | {
      readonly kind: "hint";
      readonly podUid: PodUid | undefined;
      readonly containerId: string | undefined;
      /** Undefined for any other change. */
      readonly change: RuntimeChange | undefined;
      /** The event announced an exit that the runtime's status may not show yet: one inspection may not be enough. */
      readonly aheadOfStatus: boolean;
      /** Time by the runtime's clock: used to measure delays, never to order events. */
      readonly sentAt?: EpochMs;
    };

/** The ports; a port that the node lacks is undefined. */
export interface KubeletPorts {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly telemetry: Telemetry;
  /** undefined unless tracing is configured: nothing is traced, at no cost. */
  readonly tracing?: Tracing | undefined;
  /** undefined on a standalone node. */
  readonly api: ApiLanes | undefined;
  /** ConfigMaps and Secrets of API pods; undefined on a standalone node. */
  readonly objects: ObjectCache | undefined;
  /** Other API objects that projected volumes use; undefined on a standalone node. */
  readonly projections?: Projections | undefined;
  /** undefined on a standalone node. */
  readonly draDrivers?: DraDrivers | undefined;
  /** undefined on a standalone node. */
  readonly csiDrivers?: CsiDriverPort | undefined;
  /** undefined when the kubelet cannot mount. */
  readonly flexDrivers?: FlexDrivers | undefined;
  /** undefined when the kubelet cannot mount. */
  readonly hostDisks?: HostDisks | undefined;
  /** undefined when the kubelet cannot mount. */
  readonly iscsi?: IscsiInitiator | undefined;
  /** API objects other than pods; undefined on a standalone node. */
  readonly cluster: ClusterObjects | undefined;
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** undefined when no credential provider is configured. */
  readonly credentialPlugins: CredentialPlugins | undefined;
  /** undefined: no plugin can register. */
  readonly plugins?: Plugins | undefined;
  /** undefined: the node has no devices of plugins. */
  readonly devicePlugins?: DevicePlugins | undefined;
  readonly probers: Probers;
  readonly files: Files;
  readonly logFiles: LogFiles;
  readonly volumeFiles: VolumeFiles;
  /** undefined unless file systems measure volumes by quota. */
  readonly quotas?: Quotas | undefined;
  /** undefined when the kubelet cannot mount: not root, or not Linux. */
  readonly mounts: Mounts | undefined;
  /** undefined when the kubelet cannot write cgroups. */
  readonly cgroups: Cgroups | undefined;
  /** undefined unless the node manages processes of the machine. */
  readonly processes?: Processes | undefined;
  readonly machine: Machine;
  readonly hostUsage: HostUsage;
  /** undefined on systems without one. */
  readonly kernelLog?: KernelLog | undefined;
  /** undefined unless the node keeps chains in the firewall of the machine. */
  readonly ipTables?: IpTables | undefined;
  /** undefined on systems that do not report changes: the kubelet polls. */
  readonly networkChanges?: NetworkChanges | undefined;
  /** undefined unless the node asks the metadata service of a cloud. */
  readonly cloudMetadata?: CloudMetadata | undefined;
  /** undefined on systems without cgroups. */
  readonly cgroupUsage: CgroupUsage | undefined;
  /** undefined: nothing is kept for a boot without the API server. */
  readonly sealing?: Sealing | undefined;
  /** Set by pipelines/offline for the other parts. */
  readonly keptTokens?: KeptTokens | undefined;
  /** Set by pipelines/offline for the other parts. */
  readonly podReports?: PodReports | undefined;
  /** undefined on systems without systemd. */
  readonly logind?: Logind | undefined;
  /** undefined unless the kubelet uses notifications of the kernel about memory. */
  readonly memoryEvents?: MemoryEvents | undefined;
  /** Supervised: neither errors nor completes. */
  readonly snapshots$: Observable<SourceSnapshot>;
  /** Supervised: neither errors nor completes. */
  readonly runtimeSignals$: Observable<RuntimeSignal>;
  /** All RuntimeClasses. Emits again on every change, never errors. */
  readonly runtimeClasses$: Observable<RuntimeClasses>;
  /** Records events. The returned stream never emits and never errors. */
  readonly recordEvents: (events$: Observable<KubeletEvent>) => Observable<never>;
}
