/** Container calls: create, start, stop, remove, list, status, resources, logs. */
import { status } from "@grpc/grpc-js";
import type { CreateContainerRequest, RuntimeServiceDefinition, UpdateContainerResourcesRequest } from "../gen/cri.ts";
import type { ServiceHandlers } from "../grpcServer/grpcService.ts";
import { invalidArgument, messageOf, RpcFault } from "../grpcServer/rpcFault.ts";
import { listContainers } from "./containerLists.ts";
import { completeStart, prepareStart, startContainer } from "./containerStarts.ts";
import type { ContainerDetails } from "./engine/answers.ts";
import { isNotFound } from "./engine/engineFault.ts";
import { cgroupFiles } from "./mapping/cgroupFiles.ts";
import { containerBody } from "./mapping/containerBody.ts";
import { containerStatusMessage } from "./mapping/containerMessages.ts";
import { containerName, LABEL } from "./mapping/names.ts";
import { resourcePart } from "./mapping/resourceLimits.ts";
import { lowestOomScore } from "./oomScore.ts";
import { removeContainer } from "./containerRemoval.ts";
import { checkedImage } from "./imagePulls.ts";
import { create } from "./sandboxCalls.ts";
import { seccompText } from "./seccompProfile.ts";
import type { Shim } from "./shim.ts";

type Handlers = ServiceHandlers<RuntimeServiceDefinition["methods"]>;

/** Returns the handlers of the container calls. */
export function containerCalls(shim: Shim): Handlers {
  const { docker, facts } = shim;
  return {
    createContainer: async (request) => ({ containerId: await createContainer(shim, request) }),
    startContainer: async ({ containerId }) => {
      await startContainer(shim, containerId);
      return {};
    },
    stopContainer: async ({ containerId, timeout }, signal) => {
      if (timeout < 0n) throw invalidArgument("timeout", `${timeout} is negative`);
      if ((await docker.find("container", containerId)) === undefined) return {};
      await docker.stop(containerId, Number(timeout), signal).catch((thrown: unknown) => {
        if (!isNotFound(thrown)) throw thrown;
      });
      return {};
    },
    removeContainer: async ({ containerId }) => {
      const details = await docker.find("container", containerId);
      if (details !== undefined) await removeContainer(shim, details);
      return {};
    },
    listContainers: async ({ filter }) => ({ containers: await listContainers(shim, filter) }),
    containerStatus: async ({ containerId, verbose }) => {
      const details = await docker.inspect("container", containerId);
      completeStart(shim, details);
      return {
        status: containerStatusMessage(details, await facts.of(details)),
        info: verbose ? verboseInfo(details) : {},
      };
    },
    updateContainerResources: async (request) => {
      await updateResources(shim, request);
      return {};
    },
    reopenContainerLog: async ({ containerId }) => {
      await docker.inspect("container", containerId);
      throw new RpcFault(status.UNIMPLEMENTED, "Docker cannot do this: reopen a log; it rotates its logs itself");
    },
  };
}

async function createContainer(shim: Shim, request: CreateContainerRequest): Promise<string> {
  const { config, sandboxConfig } = request;
  if (config?.metadata === undefined) throw invalidArgument("config.metadata", "is required");
  if (sandboxConfig?.metadata === undefined) throw invalidArgument("sandbox_config.metadata", "is required");
  checkedImage(config.image?.image ?? "");
  const sandbox = await shim.docker.inspect("sandbox", request.podSandboxId);
  if (!sandbox.running) throw new RpcFault(status.FAILED_PRECONDITION, `sandbox "${sandbox.id}" is not ready`);
  const [{ cgroupDriver, remapsUsers }, version] = await Promise.all([shim.info(), shim.docker.engine.version()]);
  const place = {
    sandboxId: sandbox.id,
    runtime: sandbox.runtime,
    cgroupDriver,
    version,
    remapsUsers,
    lowestOomScore: await lowestOomScore(),
    logOptions: shim.logOptions,
  };
  const profile = await seccompText(config.linux?.securityContext?.seccomp);
  const body = containerBody(config, sandboxConfig, place, profile);
  const id = await create(shim, containerName(sandboxConfig.metadata, config.metadata), body);
  try {
    await prepareStart(shim, { id, labels: body["Labels"] as Readonly<Record<string, string>> });
  } catch (thrown) {
    await shim.docker
      .remove(id)
      .catch((also: unknown) => shim.report(`container ${id} cannot be removed: ${messageOf(also)}`));
    throw thrown;
  }
  shim.unstarted.add(id);
  return id;
}

async function updateResources({ docker, cgroups }: Shim, request: UpdateContainerResourcesRequest): Promise<void> {
  const { containerId, linux } = request;
  const details = await docker.inspect("container", containerId);
  if (linux === undefined) return;
  await docker.engine.call({ method: "POST", path: `/containers/${details.id}/update`, body: resourcePart(linux) });
  await cgroups.update(details, cgroupFiles(linux));
}

const verboseInfo = ({ labels, pid }: ContainerDetails): Readonly<Record<string, string>> => ({
  info: JSON.stringify({ sandboxID: labels[LABEL.sandboxId] ?? "", pid }),
});
