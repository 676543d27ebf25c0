/** Container calls: create, start, stop, remove, list, status, exec. */
import fs from "node:fs";
import path from "node:path";
import { status } from "@grpc/grpc-js";
import {
  ContainerEventType,
  type ContainerFilter,
  type CreateContainerRequest,
  type ExecSyncRequest,
  type ExecSyncResponse,
  type RuntimeServiceDefinition,
} from "../gen/cri.ts";
import { checkContainerConfig, containerEnv } from "./containerEnv.ts";
import { INPUT_PIPE } from "./containerInput.ts";
import { scratchDir, startContainer } from "./containerStart.ts";
import { removeContainer, stopContainer } from "./containerStop.ts";
import { containerMessage, containerState, containerStatusMessage } from "./criMessages.ts";
import { execPlace, runningContainer } from "./execPlace.ts";
import { execSync } from "./execSync.ts";
import { makeFifos } from "./fifoReader.ts";
import { matchesLabels } from "../criServer/matchesLabels.ts";
import type { ServiceHandlers } from "../grpcServer/grpcService.ts";
import { meansHostImage } from "./hostImage.ts";
import { enterScript, SUPERVISOR_FDS } from "./launchScripts.ts";
import type { ContainerRecord } from "./records.ts";
import { type LiveContainer, newId } from "./registry.ts";
import type { Runtime } from "./runtime.ts";
import { invalidArgument, notFound, RpcFault } from "../grpcServer/rpcFault.ts";
import { wallClockNs } from "../criServer/wallClockNs.ts";

type Handlers = ServiceHandlers<RuntimeServiceDefinition["methods"]>;

const MOUNTS_NOTE = "not mounted: the container is a process of the host; RXLET_MOUNTS tells it the host paths";

/** Returns the handlers of the container calls. */
export function containerCalls(runtime: Runtime): Handlers {
  const { registry } = runtime;
  return {
    createContainer: async (request) => ({ containerId: await createContainer(runtime, request) }),
    startContainer: ({ containerId }) => {
      startContainer(runtime, registry.container(containerId));
      return {};
    },
    stopContainer: async ({ containerId, timeout }, signal) => {
      if (timeout < 0n) throw invalidArgument("timeout", `${timeout} is negative`);
      const live = registry.findContainer(containerId);
      if (live !== undefined) await stopContainer(live, Number(timeout) * 1000, signal);
      return {};
    },
    removeContainer: async ({ containerId }) => {
      const live = registry.findContainer(containerId);
      if (live !== undefined) await removeContainer(runtime, live);
      return {};
    },
    listContainers: ({ filter }) => ({
      containers: [...registry.containers.values()]
        .filter(({ record }) => matches(record, filter))
        .map(({ record }) => containerMessage(record)),
    }),
    containerStatus: ({ containerId, verbose }) => {
      const live = registry.container(containerId);
      return { status: containerStatusMessage(live.record), info: verbose ? verboseInfo(live) : {} };
    },
    updateContainerResources: ({ containerId, linux }) => {
      const { record } = registry.container(containerId);
      if (linux !== undefined) registry.putContainer({ ...record, resources: linux });
      return {};
    },
    reopenContainerLog: ({ containerId }) => {
      const live = runningContainer(runtime, containerId);
      live.log?.reopen();
      return {};
    },
    execSync: (request, signal) => exec(runtime, request, signal),
  };
}

async function createContainer(runtime: Runtime, request: CreateContainerRequest): Promise<string> {
  const { registry, files, events } = runtime;
  const sandbox = registry.sandbox(request.podSandboxId);
  if (!sandbox.ready) throw new RpcFault(status.FAILED_PRECONDITION, `sandbox "${sandbox.id}" is not ready`);
  const { config } = request;
  if (config === undefined) throw invalidArgument("config", "is required");
  checkContainerConfig(config);
  const image = config.image?.image ?? "";
  if (!meansHostImage(image)) throw notFound("image", image);
  const logDirectory = request.sandboxConfig?.logDirectory || sandbox.config.logDirectory;
  if (config.logPath.split("/").includes("..")) throw invalidArgument("config.log_path", "must not contain ..");
  const record: ContainerRecord = {
    id: newId(),
    sandboxId: sandbox.id,
    config,
    logPath: logDirectory === "" || config.logPath === "" ? "" : path.join(logDirectory, config.logPath),
    createdAt: wallClockNs(),
    phase: { kind: "created" },
    resources: config.linux?.resources,
  };
  const name = containerName(record);
  const holder = (): string | undefined =>
    [...registry.containers.values()].find((other) => containerName(other.record) === name)?.record.id;
  return await registry.withName(name, holder, async () => {
    await files.addContainer(record, async (dir) => {
      fs.mkdirSync(scratchDir(dir), { mode: 0o755 });
      fs.writeFileSync(path.join(dir, "enter"), enterScript(containerEnv(config, sandbox.config)), { mode: 0o600 });
      const pipes = [...SUPERVISOR_FDS, ...(config.stdin ? [INPUT_PIPE] : [])];
      await makeFifos(pipes.map((pipe) => path.join(dir, pipe)));
    });
    if (registry.sandboxes.get(sandbox.id)?.ready !== true) {
      await files.remove("containers", record.id);
      throw new RpcFault(status.FAILED_PRECONDITION, `sandbox "${sandbox.id}" was stopped meanwhile`);
    }
    registry.addContainer(record);
    events.emit(record.id, ContainerEventType.CONTAINER_CREATED_EVENT, sandbox.id);
    return record.id;
  });
}

const containerName = ({ config, sandboxId }: ContainerRecord): string =>
  `${config.metadata?.name}_${sandboxId}_${config.metadata?.attempt}`;

function matches(record: ContainerRecord, filter: ContainerFilter | undefined): boolean {
  if (filter === undefined) return true;
  if (filter.id !== "" && !record.id.startsWith(filter.id)) return false;
  if (filter.podSandboxId !== "" && !record.sandboxId.startsWith(filter.podSandboxId)) return false;
  if (filter.state !== undefined && filter.state.state !== containerState(record)) return false;
  return matchesLabels(record.config.labels, filter.labelSelector);
}

async function exec(runtime: Runtime, request: ExecSyncRequest, signal: AbortSignal): Promise<ExecSyncResponse> {
  const place = execPlace(runtime, request.containerId, request.cmd);
  if (request.timeout < 0n) throw invalidArgument("timeout", `${request.timeout} is negative`);
  return await execSync(place(), Number(request.timeout) * 1000, signal);
}

function verboseInfo({ record }: LiveContainer): Readonly<Record<string, string>> {
  const info = {
    sandboxID: record.sandboxId,
    pid: record.phase.kind === "running" ? record.phase.pid : 0,
    mounts: record.config.mounts.length === 0 ? "none" : MOUNTS_NOTE,
    securityContext: "not enforced: everything runs as the user of the runtime",
    resources: "recorded, not enforced",
  };
  return { info: JSON.stringify(info) };
}
