/** The sandbox rpcs of a simulated runtime, with containerd's semantics. State: the world's. */
import { kubeletError } from "../../core/errors.ts";
import { ContainerEventType, PodSandboxConfig, PodSandboxState, type PodSandboxStatusResponse } from "../../gen/cri.ts";
import type * as cri from "../../gen/cri.ts";
import type { Call } from "../../ports/call.ts";
import { forkJoin, of } from "rxjs";
import { after, atOnce } from "./simCall.ts";
import { forgetContainer, stopNow } from "./simContainerCalls.ts";
import { containerStatusMessage, labelMatcher, sandboxMessage, sandboxStatusMessage } from "./simMessages.ts";
import type { SimContainer, SimSandbox } from "./simRecords.ts";
import { candidates, type SimWorld } from "./simWorld.ts";

const { CONTAINER_CREATED_EVENT, CONTAINER_STARTED_EVENT, CONTAINER_STOPPED_EVENT, CONTAINER_DELETED_EVENT } =
  ContainerEventType;

const containersOf = (world: SimWorld, sandboxId: string): readonly SimContainer[] =>
  world.containers.inGroup("sandbox", sandboxId);

const reservedName = ({ metadata }: PodSandboxConfig): string =>
  `${metadata?.name}_${metadata?.namespace}_${metadata?.uid}_${metadata?.attempt}`;

/** RunPodSandbox. A name (pod and attempt) is reserved until its sandbox is removed. */
export const runPodSandbox = (world: SimWorld, request: cri.RunPodSandboxRequest): Call<cri.RunPodSandboxResponse> =>
  atOnce(() => {
    const config = request.config ?? PodSandboxConfig.create();
    if (config.metadata === undefined) throw kubeletError("InvalidArgument", "sandbox config must include metadata");
    if (!world.handlers.some(({ name }) => name === request.runtimeHandler)) {
      const handler = JSON.stringify(request.runtimeHandler);
      throw kubeletError("Unknown", `failed to get sandbox runtime: no runtime for ${handler} is configured`);
    }
    const networkProblem = world.conditions.get("NetworkReady") ?? "";
    const address = world.newAddress({ config });
    if (networkProblem !== "" && address !== "") {
      throw kubeletError("Unknown", `failed to setup network for sandbox: ${networkProblem}`);
    }
    const name = reservedName(config);
    const holder = [...world.sandboxes.values()].find((sandbox) => reservedName(sandbox.config) === name);
    if (holder !== undefined) {
      throw kubeletError("Unknown", `failed to reserve sandbox name "${name}": it is reserved for "${holder.id}"`);
    }
    const sandbox: SimSandbox = {
      id: world.newId(),
      config,
      runtimeHandler: request.runtimeHandler,
      createdAt: world.stampNs(),
      ready: true,
      ip: address,
    };
    world.sandboxes.set(sandbox.id, sandbox);
    startPause(world, sandbox);
    world.sandboxChanged("sandbox created", sandbox, CONTAINER_CREATED_EVENT, CONTAINER_STARTED_EVENT);
    return { podSandboxId: sandbox.id };
  });

/** Starts the process that holds the namespaces of a sandbox. */
function startPause(world: SimWorld, { id, config }: SimSandbox): void {
  const cgroup = `${config.linux?.cgroupParent ?? ""}/${id}`;
  world.pauses.set(id, world.host.processes.start({ name: "pause", cgroup }));
}

/** Marks a sandbox not ready, as when its pause process ends. With `releaseAddress` also frees its address. */
export function endSandbox(world: SimWorld, id: string, releaseAddress: boolean): void {
  const sandbox = world.sandboxes.get(id);
  if (sandbox === undefined) return;
  const pid = world.pauses.get(id);
  if (pid !== undefined) world.host.processes.end(pid);
  world.pauses.delete(id);
  const ended: SimSandbox = { ...sandbox, ready: false, ip: releaseAddress ? "" : sandbox.ip };
  world.sandboxes.set(id, ended);
  if (sandbox.ready) world.sandboxChanged("sandbox stopped", ended, CONTAINER_STOPPED_EVENT);
}

/** StopPodSandbox: kills its containers, then frees its address. Succeeds if it is missing. */
export function stopPodSandbox(
  world: SimWorld,
  { podSandboxId }: cri.StopPodSandboxRequest,
): Call<cri.StopPodSandboxResponse> {
  const kills = containersOf(world, podSandboxId).map((container) => stopNow(world, container.id));
  return after(kills.length === 0 ? of(undefined) : forkJoin(kills), () => {
    endSandbox(world, podSandboxId, true);
    return {};
  });
}

/** RemovePodSandbox: stops it if necessary and removes its containers. Succeeds if it is missing. */
export function removePodSandbox(
  world: SimWorld,
  { podSandboxId }: cri.RemovePodSandboxRequest,
): Call<cri.RemovePodSandboxResponse> {
  return after(stopPodSandbox(world, { podSandboxId }), () => {
    const sandbox = world.sandboxes.get(podSandboxId);
    if (sandbox === undefined) return {};
    for (const container of containersOf(world, podSandboxId)) forgetContainer(world, container.id);
    world.sandboxes.delete(podSandboxId);
    world.sandboxChanged("sandbox removed", sandbox, CONTAINER_DELETED_EVENT);
    return {};
  });
}

/** PodSandboxStatus, with the statuses of its containers. Errors: NotFound. */
export const podSandboxStatus = (
  world: SimWorld,
  { podSandboxId }: cri.PodSandboxStatusRequest,
): Call<PodSandboxStatusResponse> =>
  atOnce(() => {
    const sandbox = world.sandboxes.get(podSandboxId);
    if (sandbox === undefined) throw sandboxNotFound(podSandboxId);
    return {
      status: sandboxStatusMessage(sandbox),
      info: {},
      containersStatuses: containersOf(world, podSandboxId).map((each) => containerStatusMessage(each, sandbox)),
      timestamp: world.stampNs(),
    };
  });

const sandboxNotFound = (id: string) =>
  kubeletError("NotFound", `an error occurred when try to find sandbox "${id}": not found`);

/** ListPodSandbox, oldest first; all fields of the filter must match. */
export const listPodSandbox = (
  world: SimWorld,
  { filter }: cri.ListPodSandboxRequest,
): Call<cri.ListPodSandboxResponse> =>
  atOnce(() => {
    const { id = "", state, labelSelector = {} } = filter ?? {};
    const hasLabels = labelMatcher(labelSelector);
    const matches = (sandbox: SimSandbox): boolean =>
      (id === "" || sandbox.id === id) &&
      (state === undefined || sandbox.ready === (state.state === PodSandboxState.SANDBOX_READY)) &&
      hasLabels(sandbox.config.labels);
    return { items: candidates(world.sandboxes, labelSelector).filter(matches).map(sandboxMessage) };
  });
