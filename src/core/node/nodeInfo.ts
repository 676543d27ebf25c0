/**
 * Machine and version facts of the node. Upstream: the setters VersionInfo, DaemonEndpoints, GoRuntime,
 * RuntimeHandlers, NodeFeatures.
 */
import type { Node } from "../api.ts";
import type { NodeFacts } from "./nodeFacts.ts";
import { formatRuntimeVersion } from "./runtimeVersion.ts";

/** Returns the node with its machine, versions, port and runtime features. */
export function withNodeInfo(node: Node, { settings, machine, runtime }: NodeFacts): Node {
  const { status = {} } = node;
  const { runtimeHandlers: _handlers, features: _features, declaredFeatures: _declared, ...rest } = status;
  const { supplementalGroupsPolicy } = runtime;
  const handlers = [...runtime.handlers].sort((a, b) => (a.name < b.name ? -1 : 1));
  const nodeInfo = {
    machineID: machine.machineId,
    systemUUID: machine.systemUuid,
    bootID: machine.bootId,
    kernelVersion: machine.kernelVersion,
    osImage: machine.osImage,
    containerRuntimeVersion: `${runtime.name}://${formatRuntimeVersion(runtime.version) ?? "Unknown"}`,
    kubeletVersion: settings.kubeletVersion,
    // Upstream's gate DisableNodeKubeProxyVersion is locked on.
    kubeProxyVersion: "",
    operatingSystem: machine.operatingSystem,
    architecture: machine.architecture,
    ...(machine.swapBytes === 0n ? {} : { swap: { capacity: Number(machine.swapBytes) } }),
  };
  return {
    ...node,
    status: {
      ...rest,
      // biome-ignore lint/style/useNamingConvention: upstream's own spelling.
      daemonEndpoints: { kubeletEndpoint: { Port: settings.port } },
      nodeInfo,
      ...(handlers.length === 0 ? {} : { runtimeHandlers: handlers.map(handlerOf) }),
      ...(supplementalGroupsPolicy === undefined ? {} : { features: { supplementalGroupsPolicy } }),
      ...(settings.declaredFeatures === undefined ? {} : { declaredFeatures: settings.declaredFeatures }),
    },
  };
}

const handlerOf = ({ name, ...features }: NodeFacts["runtime"]["handlers"][number]) => ({ name, features });
