/**
 * Sandbox calls. A sandbox is a record and an address without namespaces: all pods share the host network, and each pod
 * has its own loopback address for its servers to bind to.
 */
import { ContainerEventType, NamespaceMode, type RuntimeServiceDefinition, type PodSandboxFilter } from "../gen/cri.ts";
import { removeContainer, stopContainer } from "./containerStop.ts";
import { containerStatusMessage, sandboxMessage, sandboxState, sandboxStatusMessage } from "./criMessages.ts";
import { matchesLabels } from "../criServer/matchesLabels.ts";
import type { ServiceHandlers } from "../grpcServer/grpcService.ts";
import { freePodAddress } from "./freePodAddress.ts";
import type { SandboxRecord } from "./records.ts";
import { newId } from "./registry.ts";
import type { Runtime } from "./runtime.ts";
import { invalidArgument } from "../grpcServer/rpcFault.ts";
import { wallClockNs } from "../criServer/wallClockNs.ts";

type Handlers = ServiceHandlers<RuntimeServiceDefinition["methods"]>;

const NETWORK_NOTE = "pods share the network of the host; ip is a loopback address of the pod's own to bind to (Linux)";

/** Returns the handlers of the PodSandbox calls. */
export function sandboxCalls(runtime: Runtime): Handlers {
  const { registry, events } = runtime;
  return {
    runPodSandbox: (request) => ({ podSandboxId: runSandbox(runtime, request.config, request.runtimeHandler) }),
    stopPodSandbox: async ({ podSandboxId }) => {
      const sandbox = registry.findSandbox(podSandboxId);
      if (sandbox !== undefined) await stopSandbox(runtime, sandbox);
      return {};
    },
    removePodSandbox: async ({ podSandboxId }) => {
      const sandbox = registry.findSandbox(podSandboxId);
      if (sandbox !== undefined) await removeSandbox(runtime, sandbox);
      return {};
    },
    podSandboxStatus: ({ podSandboxId, verbose }) => {
      const sandbox = registry.sandbox(podSandboxId);
      return {
        status: sandboxStatusMessage(sandbox),
        info: verbose ? { info: JSON.stringify({ network: NETWORK_NOTE, hostname: sandbox.config.hostname }) } : {},
        containersStatuses: registry.containersOf(sandbox.id).map(({ record }) => containerStatusMessage(record)),
        timestamp: wallClockNs(),
      };
    },
    listPodSandbox: ({ filter }) => ({
      items: [...registry.sandboxes.values()].filter((record) => matches(record, filter)).map(sandboxMessage),
    }),
    updatePodSandboxResources: ({ podSandboxId }) => {
      registry.sandbox(podSandboxId);
      return {};
    },
    getContainerEvents: (_request, sink) => events.subscribe(sink),
  };
}

function runSandbox(runtime: Runtime, config: SandboxRecord["config"] | undefined, runtimeHandler: string): string {
  const { registry, files, events } = runtime;
  const metadata = config?.metadata;
  if (config === undefined || metadata === undefined) throw invalidArgument("config.metadata", "is required");
  for (const field of ["name", "namespace", "uid"] as const) {
    if (metadata[field] === "") throw invalidArgument(`config.metadata.${field}`, "is required");
  }
  if (runtimeHandler !== "") {
    throw invalidArgument("runtime_handler", `no runtime for "${runtimeHandler}" is configured`);
  }
  const name = sandboxName(config);
  const holder = (): string | undefined =>
    [...registry.sandboxes.values()].find((other) => sandboxName(other.config) === name)?.id;
  return registry.withName(name, holder, () => {
    const onHostNetwork = config.linux?.securityContext?.namespaceOptions?.network === NamespaceMode.NODE;
    const taken = new Set([...registry.sandboxes.values()].map((other) => other.ip));
    const ip = onHostNetwork ? "" : freePodAddress(files.root, taken, process.platform);
    const record: SandboxRecord = { id: newId(), config, createdAt: wallClockNs(), ready: true, ip };
    files.addSandbox(record);
    registry.addSandbox(record);
    events.emit(record.id, ContainerEventType.CONTAINER_CREATED_EVENT, record.id);
    events.emit(record.id, ContainerEventType.CONTAINER_STARTED_EVENT, record.id);
    return record.id;
  });
}

function sandboxName({ metadata }: SandboxRecord["config"]): string {
  return `${metadata?.name}_${metadata?.namespace}_${metadata?.uid}_${metadata?.attempt}`;
}

/** Kills the containers of the sandbox without a grace period and makes it not ready. */
export async function stopSandbox(runtime: Runtime, sandbox: SandboxRecord): Promise<void> {
  const { registry, events } = runtime;
  await Promise.all(registry.containersOf(sandbox.id).map((live) => stopContainer(live, 0)));
  const current = registry.sandboxes.get(sandbox.id);
  if (current?.ready !== true) return;
  registry.putSandbox({ ...current, ready: false });
  events.emit(sandbox.id, ContainerEventType.CONTAINER_STOPPED_EVENT, sandbox.id);
}

async function removeSandbox(runtime: Runtime, sandbox: SandboxRecord): Promise<void> {
  const { registry, files, events } = runtime;
  await stopSandbox(runtime, sandbox);
  await Promise.all(registry.containersOf(sandbox.id).map((live) => removeContainer(runtime, live)));
  if (!registry.sandboxes.has(sandbox.id)) return;
  registry.dropSandbox(sandbox.id);
  const removed = files.remove("sandboxes", sandbox.id);
  events.emit(sandbox.id, ContainerEventType.CONTAINER_DELETED_EVENT, sandbox.id);
  await removed;
}

function matches(record: SandboxRecord, filter: PodSandboxFilter | undefined): boolean {
  if (filter === undefined) return true;
  if (filter.id !== "" && !record.id.startsWith(filter.id)) return false;
  if (filter.state !== undefined && filter.state.state !== sandboxState(record)) return false;
  return matchesLabels(record.config.labels, filter.labelSelector);
}
