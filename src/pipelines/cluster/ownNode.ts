/** The objects that a node keeps at the API server: its Node with status, its lease, its CSINode. */
import { concat, defer, EMPTY, from, merge, type Observable } from "rxjs";
import type { KubeletEvent } from "../../core/events.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { startEvents } from "../../core/node/nodeEvents.ts";
import type { ApiLanes } from "../../ports/apiServer.ts";
import type { ClusterObjects } from "../../ports/clusterObjects.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeState, NodeView } from "../../state/nodeState.ts";
import { providerId } from "./keepProviderId.ts";
import { csiNode } from "./keepCsiNode.ts";
import { csiMarks } from "./markCsiDrivers.ts";
import { createNodeFacts } from "./collectNodeFacts.ts";
import { nodeImages } from "./listNodeImages.ts";
import { nodeLease } from "./renewNodeLease.ts";
import { nodeObject } from "./nodeObject.ts";
import { type NodeWriter, nodeRegistration } from "./nodeRegistration.ts";
import { createNodeStartup } from "./nodeStartup.ts";
import { nodeStatus } from "./reportNodeStatus.ts";

/** The cells that this pipeline reads, and those that it owns. */
export type OwnNodeState = Pick<
  NodeView,
  | ("runtimeState" | "relistedAt" | "pressures" | "shuttingDown" | "addresses" | "cloudInstance")
  | ("devices" | "csiDrivers" | "volumesInUse")
> &
  Pick<NodeState, "node" | "reportedNode" | "images">;

const MS_PER_SECOND = 1_000;

/** Runs while subscribed; emits events of the node. Never errors or completes. */
export function ownNode(
  inputs: { readonly imagesChanged$: Observable<unknown> },
  { api, cluster }: { readonly api: ApiLanes; readonly cluster: ClusterObjects },
  ports: Omit<KubeletPorts, "api" | "cluster">,
  config: KubeletConfig,
  state: OwnNodeState,
): Observable<KubeletEvent> {
  const { clock, rng, telemetry } = ports;
  const { nodeName, node: settings } = config;
  const { leaseDurationSeconds: durationSeconds, statusUpdatePeriodMs } = settings;
  // Same bound as upstream: a heartbeat that takes longer is too late.
  const deadlineMs = Math.min(statusUpdatePeriodMs, durationSeconds * MS_PER_SECOND);
  const request = { api: api.heartbeats, clock, rng, telemetry, deadlineMs };
  return defer(() => {
    const facts = createNodeFacts(state, ports, config);
    const csi = { nodeName, node: state.node, csiDrivers: state.csiDrivers, clock, rng, telemetry };
    const writer: NodeWriter = { ...request, facts, startup: createNodeStartup(ports), returns$: api.returns$ };
    return merge(
      from(startEvents(nodeName, ports.machine)),
      nodeObject(nodeName, cluster.node$, state.node),
      nodeLease({ ...request, nodeName, durationSeconds, node: state.node }),
      csiNode({ api: api.objects, ...csi }),
      csiMarks({ api: api.heartbeats, ...csi }),
      settings.hasCloudMetadata === true
        ? providerId({ ...request, nodeName, configured: settings.providerId, ...state })
        : EMPTY,
      nodeImages(inputs, ports, state.images),
      concat(settings.register ? nodeRegistration(writer) : EMPTY, nodeStatus(writer, state)),
    );
  });
}
