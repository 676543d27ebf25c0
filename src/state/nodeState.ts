/**
 * The cells of the node and their one writer each: the map of the house. Readers take the read-only face.
 *
 *     cell           writer                       says
 *     listing        pipelines/runtime/runtimeStatus      which pods the runtime has: at the last audit, less those found gone
 *     auditedAt      pipelines/runtime/runtimeStatus      when that was
 *     statuses       pipelines/runtime/runtimeStatus      each pod in the runtime, as last inspected
 *     runtimeState   pipelines/runtime/runtimeState       is the runtime up, is its network
 *     pressures      pipelines/node/nodePressure       what the node runs short of
 *     addresses      pipelines/node/hostAddresses      addresses of the machine, if they changed since the start
 *     registry       pipelines/podLifecycle       which pods the node has and the phase of each
 *     podStatuses    pipelines/podStatus          API status of each pod
 *     timelines      pipelines/podTimeline        what happened to each pod, and what it is busy with
 *     idRanges       pipelines/node/userNamespaces     which pod has which user ids
 *     volumes        pipelines/volumes/volumes            which volumes each pod wants, and which of them the node has
 *     orphans        pipelines/housekeeping       pods nobody wants whose directories cannot be removed, and why
 *     runtimeClasses kubelet                      which RuntimeClasses there are
 *     services       kubelet                      which services there are
 *     node           pipelines/cluster/nodeObject         this node as the API server has it
 *     images         pipelines/cluster/nodeImages         which images the runtime has, on a node of a cluster
 *     sourcesSeen    pipelines/podConfig          which sources have reported
 *     configObjects  pipelines/podConfig          ConfigMaps, Secrets, services and RuntimeClasses of manifests
 *     problems       pipelines/podConfig          manifests that cannot be used, by source
 *     toldPods       pipelines/podConfig          pod objects as the API server last told them
 */
import { NO_TOLD_PODS, type ToldPods } from "../core/api/toldPods.ts";
import type { Node, PodStatus } from "../core/api.ts";
import { type ConfigObjects, NO_CONFIG_OBJECTS } from "../core/configObjects.ts";
import type { ServiceForEnv } from "../core/container/serviceEnv.ts";
import type { MonotonicMs, PodUid } from "../core/ids.ts";
import { type MachineAddresses, type NodeImage, type NodePressures, NO_PRESSURE } from "../core/node/nodeFacts.ts";
import { emptyRegistry, type Registry } from "../core/pod/podRegistry.ts";
import type { ManifestProblem, PodSource } from "../core/pod/sourceSnapshot.ts";
import type { PodRuntimeStatus } from "../core/runtime/podRuntimeStatus.ts";
import type { RuntimeListing } from "../core/runtime/runtimeListing.ts";
import type { RuntimeClasses } from "../core/runtime/runtimeHandler.ts";
import { type RuntimeState, unknownRuntimeState } from "../core/runtime/runtimeState.ts";
import type { PodTimeline } from "../core/timeline/timelineTypes.ts";
import { type IdRanges, noIdRanges } from "../core/userns/idRanges.ts";
import type { PodVolumes } from "../core/volume/podVolumes.ts";
import { type Cell, createCell, type ReadonlyCell } from "./cell.ts";
import { createKeyedCell, type KeyedCell, type ReadonlyKeyedCell } from "./keyedCell.ts";
import { createSequence, type Sequence } from "./sequence.ts";

export interface NodeState {
  /** undefined until the runtime was listed once. */
  readonly listing: Cell<RuntimeListing | undefined>;
  /** When the last audit succeeded. */
  readonly auditedAt: Cell<MonotonicMs | undefined>;
  readonly statuses: KeyedCell<PodUid, PodRuntimeStatus>;
  readonly runtimeState: Cell<RuntimeState>;
  readonly pressures: Cell<NodePressures>;
  /** undefined: they are still those of the start. */
  readonly addresses: Cell<MachineAddresses | undefined>;
  readonly registry: Cell<Registry>;
  readonly podStatuses: KeyedCell<PodUid, PodStatus>;
  readonly timelines: KeyedCell<PodUid, PodTimeline>;
  readonly idRanges: Cell<IdRanges>;
  readonly volumes: KeyedCell<PodUid, PodVolumes>;
  /** Why each one stays, as of the last sweep. */
  readonly orphans: Cell<ReadonlyMap<PodUid, string>>;
  readonly runtimeClasses: Cell<RuntimeClasses>;
  /** undefined until the API server has told them once. */
  readonly services: Cell<readonly ServiceForEnv[] | undefined>;
  /** undefined while there is none, or the server has not told. */
  readonly node: Cell<Node | undefined>;
  /** undefined before they were listed once. */
  readonly images: Cell<readonly NodeImage[] | undefined>;
  readonly sourcesSeen: Cell<ReadonlySet<PodSource>>;
  readonly problems: Cell<ReadonlyMap<PodSource, readonly ManifestProblem[]>>;
  readonly configObjects: Cell<ConfigObjects>;
  readonly toldPods: Cell<ToldPods>;
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
    auditedAt: createCell<MonotonicMs | undefined>(undefined),
    statuses: createKeyedCell(),
    runtimeState: createCell(unknownRuntimeState),
    pressures: createCell(NO_PRESSURE),
    addresses: createCell<MachineAddresses | undefined>(undefined),
    registry: createCell(emptyRegistry),
    podStatuses: createKeyedCell(),
    timelines: createKeyedCell(),
    idRanges: createCell(noIdRanges),
    volumes: createKeyedCell(),
    orphans: createCell<ReadonlyMap<PodUid, string>>(new Map()),
    runtimeClasses: createCell<RuntimeClasses>(new Map()),
    services: createCell<readonly ServiceForEnv[] | undefined>(undefined),
    node: createCell<Node | undefined>(undefined),
    images: createCell<readonly NodeImage[] | undefined>(undefined),
    sourcesSeen: createCell<ReadonlySet<PodSource>>(new Set()),
    problems: createCell<ReadonlyMap<PodSource, readonly ManifestProblem[]>>(new Map()),
    configObjects: createCell(NO_CONFIG_OBJECTS),
    toldPods: createCell(NO_TOLD_PODS),
    sequence: createSequence(),
  };
}
