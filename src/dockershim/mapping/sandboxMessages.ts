/** Pause containers of Docker as messages of CRI. Pure. */
import { NamespaceMode, PodSandbox, PodSandboxState, PodSandboxStatus } from "../../gen/cri.ts";
import type { ContainerDetails, ContainerSummary } from "../engine/answers.ts";
import { sandboxMetadata, splitLabels } from "./names.ts";

const HOST = "host";

/** The shim's own knowledge of a sandbox. */
export interface SandboxNetwork {
  /** Whether the sandbox has the network that it needs. */
  readonly connected: boolean;
  readonly ips: readonly string[];
}

const stateOf = (running: boolean, { connected }: SandboxNetwork): PodSandboxState =>
  running && connected ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY;

const modeOf = (mode: string, otherwise: NamespaceMode): NamespaceMode =>
  mode === HOST ? NamespaceMode.NODE : otherwise;

/** Returns the status for PodSandboxStatus. */
export function sandboxStatusMessage(details: ContainerDetails, network: SandboxNetwork): PodSandboxStatus {
  const metadata = sandboxMetadata(details.name);
  const [ip = "", ...others] = network.ips;
  return PodSandboxStatus.fromPartial({
    id: details.id,
    ...(metadata === undefined ? {} : { metadata }),
    state: stateOf(details.running, network),
    createdAt: details.createdAt,
    network: { ip, additionalIps: others.map((other) => ({ ip: other })) },
    linux: {
      namespaces: {
        options: {
          network: modeOf(details.networkMode, NamespaceMode.POD),
          pid: modeOf(details.pidMode, NamespaceMode.CONTAINER),
          ipc: modeOf(details.ipcMode, NamespaceMode.POD),
        },
      },
    },
    ...splitLabels(details.labels),
    runtimeHandler: details.runtime,
  });
}

/** Returns an item of ListPodSandbox. */
export function sandboxMessage(summary: ContainerSummary, createdAt: bigint, network: SandboxNetwork): PodSandbox {
  const metadata = sandboxMetadata(summary.name);
  return PodSandbox.fromPartial({
    id: summary.id,
    ...(metadata === undefined ? {} : { metadata }),
    state: stateOf(summary.state === "running", network),
    createdAt,
    ...splitLabels(summary.labels),
  });
}
