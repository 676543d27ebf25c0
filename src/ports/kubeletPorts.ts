/** Everything the kubelet touches, in one record: the real world in main.ts, another one in tests and simulation. */
import type { Observable } from "rxjs";
import type { KubeletEvent } from "../core/events.ts";
import type { EpochMs, PodUid } from "../core/ids.ts";
import type { SourceSnapshot } from "../core/pod/sourceSnapshot.ts";
import type { RuntimeClasses } from "../core/runtime/runtimeHandler.ts";
import type { ApiLanes } from "./apiServer.ts";
import type { ClusterObjects } from "./clusterObjects.ts";
import type { HostUsage, Machine } from "./host.ts";
import type { Cgroups } from "./cgroup.ts";
import type { CgroupUsage } from "./cgroupUsage.ts";
import type { Clock } from "./clock.ts";
import type { ImageService, RuntimeService } from "./cri.ts";
import type { CredentialPlugins } from "./credentials.ts";
import type { Files } from "./files.ts";
import type { LogFiles } from "./logFiles.ts";
import type { Mounts } from "./mounts.ts";
import type { ObjectCache } from "./objectCache.ts";
import type { Probers } from "./probers.ts";
import type { Projections } from "./projections.ts";
import type { Quotas } from "./quotas.ts";
import type { Rng } from "./random.ts";
import type { Telemetry } from "./telemetry.ts";
import type { VolumeFiles } from "./volumeFiles.ts";

/** What the runtime's event stream says: a reason to look, never a state. */
export type RuntimeSignal =
  /** A stream is being opened for the first time: relist meanwhile. */
  | { readonly kind: "opening" }
  /** A stream has proved to be open: audit now, then seldom. */
  | { readonly kind: "streaming"; readonly via: "cri" | "containerd" }
  /** The stream broke and is being reopened: relist meanwhile. Told once, however many tries that takes. */
  | { readonly kind: "lost"; readonly reason: string }
  /** The runtime has no event stream: relist often. */
  | { readonly kind: "unsupported" }
  | {
      readonly kind: "hint";
      readonly podUid: PodUid | undefined;
      readonly containerId: string | undefined;
      /** An exit was announced before the runtime's own answers show it: one look may not be enough. */
      readonly aheadOfStatus: boolean;
      /** By the runtime's clock: to measure delays, never to order. */
      readonly sentAt?: EpochMs;
    };

export interface KubeletPorts {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly telemetry: Telemetry;
  /** Absent on a node of no cluster. */
  readonly api: ApiLanes | undefined;
  /** ConfigMaps and Secrets for the pods of the API server; absent on a node of no cluster. */
  readonly objects: ObjectCache | undefined;
  /** What projected volumes are made of beside those; absent on a node of no cluster. */
  readonly projections?: Projections | undefined;
  /** What the same server says beside pods. */
  readonly cluster: ClusterObjects | undefined;
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** Absent where none is configured. */
  readonly credentialPlugins: CredentialPlugins | undefined;
  readonly probers: Probers;
  readonly files: Files;
  readonly logFiles: LogFiles;
  readonly volumeFiles: VolumeFiles;
  /** Absent unless file systems are to count what is in volumes. */
  readonly quotas?: Quotas | undefined;
  /** Absent where the kubelet may not mount: no root, no Linux. */
  readonly mounts: Mounts | undefined;
  /** Absent where the kubelet may not write cgroups. */
  readonly cgroups: Cgroups | undefined;
  readonly machine: Machine;
  readonly hostUsage: HostUsage;
  /** Absent on systems without cgroups. */
  readonly cgroupUsage: CgroupUsage | undefined;
  /** Supervised: neither errors nor completes. */
  readonly snapshots$: Observable<SourceSnapshot>;
  /** Supervised: neither errors nor completes. */
  readonly runtimeSignals$: Observable<RuntimeSignal>;
  /** All RuntimeClasses, again whenever they change. Never errors. */
  readonly runtimeClasses$: Observable<RuntimeClasses>;
  /** Where events go; never emits, never errors. */
  readonly recordEvents: (events$: Observable<KubeletEvent>) => Observable<never>;
}
