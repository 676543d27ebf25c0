/**
 * The cells of the node. Each cell has one writer, listed in docs/architecture.md ("State: cells and their one writer");
 * `createParts` fails on a second one. Readers get the read-only face.
 */
import type { CloudInstance } from "../core/cloud/cloudInstance.ts";
import { NO_API_POD_OBJECTS, type ApiPodObjects } from "../core/api/apiPodObjects.ts";
import type { Node, PodStatus } from "../core/api.ts";
import { type CsiDrivers, NO_CSI_DRIVERS } from "../core/csi/csiDriverFacts.ts";
import { type ConfigObjects, NO_CONFIG_OBJECTS } from "../core/configObjects.ts";
import type { ServiceForEnv } from "../core/container/serviceEnv.ts";
import { type ClaimInfos, NO_CLAIMS } from "../core/dra/claimInfo.ts";
import type { DeviceHealths } from "../core/dra/deviceHealth.ts";
import { type DeviceState, NO_DEVICES } from "../core/device/deviceState.ts";
import type { DeviceAllocations } from "../core/device/deviceAllocations.ts";
import { type EvictionView, NO_EVICTION_VIEW } from "../core/eviction/evictionView.ts";
import type { SignalLooks } from "../core/eviction/pressureView.ts";
import { type FlexDriverMap, NO_FLEX_DRIVERS } from "../core/flex/flexAnswer.ts";
import type { MonotonicMs, PodUid } from "../core/ids.ts";
import { type MachineAddresses, type NodeImage, type NodePressures, NO_PRESSURE } from "../core/node/nodeFacts.ts";
import type { ReportedNode } from "../core/node/reportedNode.ts";
import type { RegisteredPlugins } from "../core/plugins/registeredPlugins.ts";
import { emptyRegistry, type Registry } from "../core/pod/podRegistry.ts";
import type { ManifestProblem, PodSource } from "../core/pod/sourceSnapshot.ts";
import type { RollbackView } from "../core/rollback/rollback.ts";
import type { PodRuntimeStatus } from "../core/runtime/podRuntimeStatus.ts";
import type { RuntimeListing } from "../core/runtime/runtimeListing.ts";
import type { RuntimeClasses } from "../core/runtime/runtimeHandler.ts";
import { type RuntimeState, unknownRuntimeState } from "../core/runtime/runtimeState.ts";
import type { PodTimeline } from "../core/timeline/timelineTypes.ts";
import { type IdRanges, noIdRanges } from "../core/userns/idRanges.ts";
import type { LeftStage } from "../core/volume/leftStage.ts";
import type { PodVolumes } from "../core/volume/podVolumes.ts";
import type { DraDriverMap } from "../ports/draDrivers.ts";
import { type Cell, createCell, type ReadonlyCell } from "./cell.ts";
import { createKeyedCell, type KeyedCell, type ReadonlyKeyedCell } from "./keyedCell.ts";
import { createSequence, type Sequence } from "./sequence.ts";

export interface NodeState {
  /** undefined until the runtime was listed once. */
  readonly listing: Cell<RuntimeListing | undefined>;
  /** When the last relist succeeded. */
  readonly relistedAt: Cell<MonotonicMs | undefined>;
  readonly runtimeStatuses: KeyedCell<PodUid, PodRuntimeStatus>;
  readonly runtimeState: Cell<RuntimeState>;
  readonly pressures: Cell<NodePressures>;
  readonly eviction: Cell<EvictionView>;
  /** Whether the machine is about to shut down: pods are refused, and those that run are ended. */
  readonly shuttingDown: Cell<boolean>;
  /** The latest measurement of each eviction signal. */
  readonly signalLooks: Cell<SignalLooks>;
  /** undefined: they are still those of the start. */
  readonly addresses: Cell<MachineAddresses | undefined>;
  /** undefined until the metadata service of the cloud has answered once, and on nodes that ask none. */
  readonly cloudInstance: Cell<CloudInstance | undefined>;
  readonly registry: Cell<Registry>;
  readonly podStatuses: KeyedCell<PodUid, PodStatus>;
  readonly timelines: KeyedCell<PodUid, PodTimeline>;
  readonly idRanges: Cell<IdRanges>;
  readonly volumes: KeyedCell<PodUid, PodVolumes>;
  /** Names of attachable volumes that this node uses; undefined until those of an earlier kubelet are known. */
  readonly volumesInUse: Cell<readonly string[] | undefined>;
  /** ResourceClaims that pods of the node use. */
  readonly claims: Cell<ClaimInfos>;
  readonly draDrivers: Cell<DraDriverMap>;
  /** Registered CSI drivers. */
  readonly csiDrivers: Cell<CsiDrivers>;
  /** Drivers of flexVolumes that have started. */
  readonly flexDrivers: Cell<FlexDriverMap>;
  /** Health of devices, by driver. */
  readonly deviceHealths: Cell<DeviceHealths>;
  /** Why each one stays, as of the last sweep. */
  readonly orphans: Cell<ReadonlyMap<PodUid, string>>;
  /** Volumes of the node that no pod has and that stay, as of the last sweep. */
  readonly leftStages: Cell<readonly LeftStage[]>;
  readonly runtimeClasses: Cell<RuntimeClasses>;
  /** undefined until the API server has sent them once. */
  readonly services: Cell<readonly ServiceForEnv[] | undefined>;
  /** undefined while there is none, or until the server has answered. */
  readonly node: Cell<Node | undefined>;
  /** undefined before the first report of its status. */
  readonly reportedNode: Cell<ReportedNode | undefined>;
  /** undefined before they were listed once. */
  readonly images: Cell<readonly NodeImage[] | undefined>;
  readonly sourcesSeen: Cell<ReadonlySet<PodSource>>;
  /** Whether API pods from disk run because the API server has not answered since the start. */
  readonly restored: Cell<boolean>;
  readonly problems: Cell<ReadonlyMap<PodSource, readonly ManifestProblem[]>>;
  /** Manifests in a trial, and those whose last good version runs. */
  readonly rollbacks: Cell<readonly RollbackView[]>;
  readonly plugins: Cell<RegisteredPlugins>;
  /** Devices of the node by resource. */
  readonly devices: Cell<DeviceState>;
  /** Why device plugins cannot register; undefined: they can, or the node takes none. */
  readonly devicePluginProblem: Cell<string | undefined>;
  /** Devices that plugins have prepared for containers; undefined until the checkpoint was read. */
  readonly deviceAllocations: Cell<DeviceAllocations | undefined>;
  readonly configObjects: Cell<ConfigObjects>;
  readonly apiPodObjects: Cell<ApiPodObjects>;
  /** Orders inspections and effects. */
  readonly sequence: Sequence;
}

/** The face of a cell without its setters. */
export type ReadFace<C> =
  C extends KeyedCell<infer K, infer V> ? ReadonlyKeyedCell<K, V> : C extends Cell<infer T> ? ReadonlyCell<T> : C;

/** The state as all readers see it: no cell of it can be written. The writer of a cell receives that cell separately. */
export type NodeView = { readonly [Name in keyof NodeState]: ReadFace<NodeState[Name]> };

/** Fresh state of a node. */
export function createNodeState(): NodeState {
  return {
    listing: createCell<RuntimeListing | undefined>(undefined),
    relistedAt: createCell<MonotonicMs | undefined>(undefined),
    runtimeStatuses: createKeyedCell(),
    runtimeState: createCell(unknownRuntimeState),
    pressures: createCell(NO_PRESSURE),
    eviction: createCell(NO_EVICTION_VIEW),
    shuttingDown: createCell(false),
    signalLooks: createCell<SignalLooks>(new Map()),
    addresses: createCell<MachineAddresses | undefined>(undefined),
    cloudInstance: createCell<CloudInstance | undefined>(undefined),
    registry: createCell(emptyRegistry),
    podStatuses: createKeyedCell(),
    timelines: createKeyedCell(),
    idRanges: createCell(noIdRanges),
    volumes: createKeyedCell(),
    volumesInUse: createCell<readonly string[] | undefined>(undefined),
    claims: createCell(NO_CLAIMS),
    draDrivers: createCell<DraDriverMap>(new Map()),
    csiDrivers: createCell(NO_CSI_DRIVERS),
    flexDrivers: createCell(NO_FLEX_DRIVERS),
    deviceHealths: createCell<DeviceHealths>(new Map()),
    orphans: createCell<ReadonlyMap<PodUid, string>>(new Map()),
    leftStages: createCell<readonly LeftStage[]>([]),
    runtimeClasses: createCell<RuntimeClasses>(new Map()),
    services: createCell<readonly ServiceForEnv[] | undefined>(undefined),
    node: createCell<Node | undefined>(undefined),
    reportedNode: createCell<ReportedNode | undefined>(undefined),
    images: createCell<readonly NodeImage[] | undefined>(undefined),
    sourcesSeen: createCell<ReadonlySet<PodSource>>(new Set()),
    restored: createCell(false),
    problems: createCell<ReadonlyMap<PodSource, readonly ManifestProblem[]>>(new Map()),
    rollbacks: createCell<readonly RollbackView[]>([]),
    plugins: createCell<RegisteredPlugins>(new Map()),
    devices: createCell(NO_DEVICES),
    devicePluginProblem: createCell<string | undefined>(undefined),
    deviceAllocations: createCell<DeviceAllocations | undefined>(undefined),
    configObjects: createCell(NO_CONFIG_OBJECTS),
    apiPodObjects: createCell(NO_API_POD_OBJECTS),
    sequence: createSequence(),
  };
}
