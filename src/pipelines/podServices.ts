/**
 * The services that all pod workers share, created once: the node, images, volumes, objects, tokens and credentials.
 */
import { concat, ignoreElements, merge, type Observable } from "rxjs";
import type { NodeContext } from "../core/container/nodeContext.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import { runtimeKnown } from "../state/milestones.ts";
import type { NodeState, NodeView } from "../state/nodeState.ts";
import { createKeyedTurns } from "../operators/keyedTurns.ts";
import { createDynamicResources, type DynamicResources } from "./dra/dynamicResources.ts";
import { createPodDevices, type PodDevices } from "./devices/podDevices.ts";
import { createCredentialPlugins } from "./images/credentialPlugins.ts";
import { createImagePulls, type ImagePulls } from "./images/imagePull.ts";
import { createPullRecords } from "./images/pullRecords.ts";
import { createRegistryCredentials, type FindCredentials } from "./images/registryCredentials.ts";
import { nodeContext, readdressed, volumeNode } from "./node/createNodeContext.ts";
import { createUserNamespaces, type UserNamespaces } from "./node/userNamespaces.ts";
import { createPodObjects, type PodObjects } from "./podObjects.ts";
import { createPodStarts, type PodStarts } from "./podStarts.ts";
import { createPodCertificates } from "./projections/podCertificates.ts";
import { createTokens, type Tokens } from "./projections/tokens.ts";
import { createTrustBundles } from "./projections/trustBundles.ts";
import { confirmedNodes } from "./volumes/confirmedNodes.ts";
import { createHeldVolumes } from "./volumes/heldVolumes.ts";
import type { CsiContext } from "./volumes/csiContext.ts";
import type { VolumeKinds } from "./volumes/volumeKinds.ts";
import { createVolumes, type Volumes } from "./volumes/volumes.ts";

/** The cells that pod workers read. */
export type PodServicesState = Pick<
  NodeView,
  | ("listing" | "runtimeStatuses" | "runtimeState" | "runtimeClasses" | "services" | "sequence" | "volumes")
  | ("claims" | "draDrivers" | "deviceHealths" | "devices")
>;

/** Services that a pod worker uses besides its own memory. */
export interface PodServices {
  readonly config: KubeletConfig;
  readonly ports: KubeletPorts;
  readonly state: PodServicesState;
  /** The node as CRI configs see it. */
  readonly node: NodeContext;
  /** Emits when the addresses of the node change. */
  readonly readdressed$: Observable<unknown>;
  readonly images: ImagePulls;
  readonly starts: PodStarts;
  readonly userNamespaces: UserNamespaces;
  readonly devices: PodDevices;
  readonly volumes: Volumes;
  readonly dynamicResources: DynamicResources;
  readonly objects: PodObjects;
  readonly credentials: FindCredentials;
  /** Undefined without an API server. */
  readonly tokens: Tokens | undefined;
}

/** The services, and their work that belongs to no single pod. */
export interface SharedPodServices extends PodServices {
  /**
   * Reads the state of earlier kubelets from disk while the runtime is asked for its pods; user IDs come last, since a file
   * of them that cannot be read matters only for a pod that the runtime has. Completes before any worker starts.
   */
  load(): Observable<never>;
  /** Runs beside the workers: drops records of images that are gone, and keeps the checkpoint of devices. */
  prune(): Observable<never>;
}

type State = PodServicesState &
  Pick<NodeView, "node" | "reportedNode" | "csiDrivers" | "flexDrivers" | "addresses" | "configObjects" | "registry">;

/** Creates the services. `cells` are the cells that they own. */
export function createPodServices(
  ports: KubeletPorts,
  config: KubeletConfig,
  state: State,
  cells: Pick<NodeState, "idRanges" | "volumes" | "volumesInUse" | "claims" | "deviceAllocations">,
): SharedPodServices {
  const { api, telemetry } = ports;
  const pullRecords = createPullRecords(ports, config);
  const objects = createPodObjects(state.configObjects, ports.objects);
  const tokens = api && createTokens({ ...ports, api: api.objects, log: telemetry.log, kept: ports.keptTokens });
  const askPlugins = createCredentialPlugins({ providers: config.credentialProviders, ports, tokens });
  const userNamespaces = createUserNamespaces(ports, config, state, cells.idRanges);
  const volumes = createVolumes({
    ports,
    config,
    node: volumeNode(config, ports.machine, state.node, ports.csiDrivers !== undefined),
    sources: { objects, tokens, ...createProjected(ports, state), allocatable: config.allocatable },
    volumes: cells.volumes,
    api: api?.objects,
    claims: api?.objects,
    csiDrivers$: ports.cluster?.csiDrivers$,
    kinds: volumeKinds(ports, config, state, { tokens, heldVolumes: createHeldVolumes(cells.volumesInUse) }),
  });
  const dynamicResources = createDynamicResources(ports, config, state.draDrivers, cells.claims);
  const devices = createPodDevices(ports, config, state.devices, cells.deviceAllocations, state.registry);
  const node = nodeContext(config, ports.machine, state, ports.cluster === undefined);
  return {
    load: () =>
      merge(
        ...[pullRecords.load(), volumes.load(), dynamicResources.load(), devices.load()],
        concat(runtimeKnown(state).pipe(ignoreElements()), userNamespaces.load()),
      ),
    prune: () => merge(pullRecords.prune(), devices.keep()),
    config,
    ports,
    state,
    node,
    readdressed$: readdressed(node, state),
    images: createImagePulls(ports, config.imagePull, pullRecords),
    starts: createPodStarts(ports),
    userNamespaces,
    devices,
    objects,
    tokens,
    volumes,
    dynamicResources,
    credentials: createRegistryCredentials({ ports, objects, places: config.dockerFiles, askPlugins }),
  };
}

/** The kinds of volumes that drivers of this node set up. */
function volumeKinds(
  { csiDrivers, flexDrivers, hostDisks, iscsi, api, clock }: KubeletPorts,
  { nodeName, node: { attachDetachByController } }: KubeletConfig,
  state: Pick<NodeView, "csiDrivers" | "flexDrivers" | "node" | "reportedNode">,
  { tokens, heldVolumes }: Pick<CsiContext, "tokens" | "heldVolumes">,
): VolumeKinds {
  const objects = api?.objects;
  const node = confirmedNodes(state);
  const shared = { node, nodeName, heldVolumes };
  const isAttachedByController = objects !== undefined && attachDetachByController;
  return {
    csi:
      csiDrivers === undefined || objects === undefined
        ? undefined
        : { ...shared, port: csiDrivers, drivers: state.csiDrivers, api: objects, tokens, isAttachedByController },
    flex: flexDrivers && {
      ...{ ...shared, port: flexDrivers, drivers: state.flexDrivers, api: objects },
      isAttachedByController,
    },
    disks: hostDisks && {
      ...{ port: hostDisks, node, heldVolumes, isAttachedByController },
      iscsi: iscsi && { port: iscsi, clock, api: objects, turns: createKeyedTurns(), leaving: new Set() },
    },
  };
}

/** Creates the sources of projected volumes that the node may use. */
function createProjected({ projections, api, clock, rng, telemetry }: KubeletPorts, { node }: Pick<NodeView, "node">) {
  const { trustBundles$, podCertificates } = projections ?? {};
  const { log, metrics } = telemetry;
  return {
    trustBundles: trustBundles$ && createTrustBundles(trustBundles$, clock),
    podCertificates:
      podCertificates &&
      api &&
      createPodCertificates({ ...podCertificates, api: api.objects, node, clock, rng, log, metrics }),
  };
}
