/** The container rpcs of a simulated runtime, with containerd's semantics. State: the world's. */
import type { Observable } from "rxjs";
import { concat, ignoreElements, merge, of, take, tap } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import {
  ContainerConfig,
  ContainerEventType,
  type ContainerStatusResponse,
  type LinuxContainerResources,
} from "../../gen/cri.ts";
import type * as cri from "../../gen/cri.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { Call } from "../../ports/call.ts";
import { after, atOnce } from "./simCall.ts";
import { findImage } from "./simImageCalls.ts";
import { containerMessage, containerState, containerStatusMessage, labelMatcher, logPathOf } from "./simMessages.ts";
import { startProcess, type WriteHostFile } from "./simProcess.ts";
import type { SimPrograms } from "./simProgram.ts";
import type { SimContainer } from "./simRecords.ts";
import { candidates, type SimWorld } from "./simWorld.ts";

/** containerd's exit code of a start that failed. */
const START_FAILED = 128;

const containerNotFound = (id: string) =>
  kubeletError("NotFound", `an error occurred when try to find container "${id}": not found`);

/** Returns the container, or throws NotFound. */
export function containerOf(world: SimWorld, id: string): SimContainer {
  const container = world.containers.get(id);
  if (container === undefined) throw containerNotFound(id);
  return container;
}

/** CreateContainer. A name (container and attempt) is reserved within its sandbox until the container is removed. */
export const createContainer = (
  world: SimWorld,
  request: cri.CreateContainerRequest,
): Call<cri.CreateContainerResponse> =>
  atOnce(() => {
    const sandbox = world.sandboxes.get(request.podSandboxId);
    if (sandbox === undefined) {
      throw kubeletError("NotFound", `failed to find sandbox id "${request.podSandboxId}": not found`);
    }
    if (!sandbox.ready) throw kubeletError("NotFound", `no running task found in sandbox "${sandbox.id}": not found`);
    const config = request.config ?? ContainerConfig.create();
    if (config.metadata === undefined) throw kubeletError("InvalidArgument", "container config must include metadata");
    const { name, attempt } = config.metadata;
    const holder = world.containers
      .inGroup("sandbox", sandbox.id)
      .find(({ config: { metadata } }) => metadata?.name === name && metadata.attempt === attempt);
    if (holder !== undefined) {
      throw kubeletError("Unknown", `failed to reserve container name "${name}": it is reserved for "${holder.id}"`);
    }
    const image = findImage(world, config.image?.image ?? "");
    if (image === undefined) {
      throw kubeletError("NotFound", `failed to resolve image "${config.image?.image ?? ""}": not found`);
    }
    const container: SimContainer = {
      id: world.newId(),
      sandboxId: sandbox.id,
      config,
      image,
      createdAt: world.stampNs(),
      phase: { kind: "created" },
      resources: config.linux?.resources,
    };
    world.containers.set(container.id, container);
    world.containerChanged("container created", container, ContainerEventType.CONTAINER_CREATED_EVENT);
    return { containerId: container.id };
  });

/** StartContainer. A program that fails to start leaves the container exited with code 128 and reason StartError. */
export const startContainer = (
  world: SimWorld,
  programs: SimPrograms,
  writeHostFile: WriteHostFile,
  { containerId }: cri.StartContainerRequest,
): Call<cri.StartContainerResponse> =>
  atOnce(() => {
    const container = containerOf(world, containerId);
    if (container.phase.kind !== "created") {
      throw kubeletError("Unknown", `container is ${container.phase.kind}, it cannot be started`);
    }
    const sandbox = world.sandboxes.get(container.sandboxId);
    if (sandbox?.ready !== true) {
      throw kubeletError("Unknown", `sandbox container "${container.sandboxId}" is not running`);
    }
    const program = programs({ container: container.config, sandbox: sandbox.config });
    if (program.failsToStart !== undefined) {
      const message = `failed to create containerd task: ${program.failsToStart}`;
      const finishedAt = world.stampNs();
      const failed: SimContainer = {
        ...container,
        phase: { kind: "exited", startedAt: 0n, finishedAt, exitCode: START_FAILED, reason: "StartError", message },
      };
      world.containers.set(containerId, failed);
      world.containerChanged("container exited", failed, ContainerEventType.CONTAINER_STOPPED_EVENT);
      throw kubeletError("Unknown", message);
    }
    startProcess(world, container, program, writeHostFile);
    return {};
  });

/** Sends KILL and waits for the exit. */
export function stopNow(world: SimWorld, id: string): Observable<void> {
  const process = world.processes.get(id);
  if (process === undefined) return of(undefined);
  process.kill();
  return process.ended$;
}

/**
 * StopContainer: sends TERM, and KILL after the timeout; completes when the container has exited. Succeeds for a
 * stopped or missing container. If the caller cancels, TERM has been sent and KILL never is.
 */
export function stopContainer(
  world: SimWorld,
  { containerId, timeout }: cri.StopContainerRequest,
): Call<cri.StopContainerResponse> {
  const process = world.processes.get(containerId);
  if (process === undefined) return of({});
  if (timeout <= 0n) return after(stopNow(world, containerId), () => ({}));
  process.term();
  const killed$ = longTimer(world.clock, Number(timeout) * 1000).pipe(
    tap(() => process.kill()),
    ignoreElements(),
  );
  return after(merge(process.ended$, killed$).pipe(take(1)), () => ({}));
}

/** Removes a stopped container. */
export function forgetContainer(world: SimWorld, id: string): void {
  const container = world.containers.get(id);
  if (container === undefined) return;
  world.containers.delete(id);
  world.containerChanged("container removed", container, ContainerEventType.CONTAINER_DELETED_EVENT);
}

/** RemoveContainer: kills a running container first. Succeeds if it is missing. */
export const removeContainer = (
  world: SimWorld,
  { containerId }: cri.RemoveContainerRequest,
): Call<cri.RemoveContainerResponse> =>
  after(stopNow(world, containerId), () => {
    forgetContainer(world, containerId);
    return {};
  });

/** ContainerStatus. Errors: NotFound. */
export const containerStatus = (
  world: SimWorld,
  { containerId }: cri.ContainerStatusRequest,
): Call<ContainerStatusResponse> =>
  atOnce(() => {
    const container = containerOf(world, containerId);
    return { status: containerStatusMessage(container, world.sandboxes.get(container.sandboxId)), info: {} };
  });

/** ListContainers, oldest first; all fields of the filter must match. */
export const listContainers = (
  world: SimWorld,
  { filter }: cri.ListContainersRequest,
): Call<cri.ListContainersResponse> =>
  atOnce(() => {
    const { id = "", state, podSandboxId = "", labelSelector = {} } = filter ?? {};
    const hasLabels = labelMatcher(labelSelector);
    const matches = (container: SimContainer): boolean =>
      (id === "" || container.id === id) &&
      (state === undefined || containerState(container) === state.state) &&
      (podSandboxId === "" || container.sandboxId === podSandboxId) &&
      hasLabels(container.config.labels);
    return { containers: candidates(world.containers, labelSelector).filter(matches).map(containerMessage) };
  });

/** Returns the resources after an update: a request for other CPUs alone changes nothing else. */
function updatedResources(
  { resources: before }: SimContainer,
  linux: LinuxContainerResources | undefined,
): LinuxContainerResources | undefined {
  if (linux === undefined || before === undefined) return linux ?? before;
  const { cpusetCpus, cpusetMems } = before;
  return linux.cpusetCpus === "" ? { ...linux, cpusetCpus, cpusetMems } : { ...before, cpusetCpus: linux.cpusetCpus };
}

/** UpdateContainerResources: a program above its new memory limit is killed. */
export const updateContainerResources = (
  world: SimWorld,
  { containerId, linux }: cri.UpdateContainerResourcesRequest,
): Call<cri.UpdateContainerResourcesResponse> =>
  atOnce(() => {
    const container = containerOf(world, containerId);
    world.containers.set(containerId, { ...container, resources: updatedResources(container, linux) });
    const process = world.processes.get(containerId);
    if (process !== undefined && linux !== undefined && linux.cpusetCpus === "") {
      world.host.processes.change(process.pid, { memoryLimitBytes: Number(linux.memoryLimitInBytes) });
    }
    return {};
  });

/** ReopenContainerLog of a running container; creates the file. */
export const reopenContainerLog = (
  world: SimWorld,
  writeHostFile: WriteHostFile,
  { containerId }: cri.ReopenContainerLogRequest,
): Call<cri.ReopenContainerLogResponse> =>
  atOnce(() => {
    const container = containerOf(world, containerId);
    if (container.phase.kind !== "running") throw kubeletError("Unknown", "container is not running");
    const path = logPathOf(container, world.sandboxes.get(container.sandboxId));
    if (path !== "") writeHostFile(path, "");
    return {};
  });

/** ExecSync: the result that the program defines for the command; 137 if the container exits first. */
export function execSync(
  world: SimWorld,
  { containerId, cmd, timeout }: cri.ExecSyncRequest,
): Call<cri.ExecSyncResponse> {
  containerOf(world, containerId);
  const process = world.processes.get(containerId);
  if (process === undefined) throw kubeletError("Unknown", `container "${containerId}" is not running`);
  const { afterMs, code, stdout = "", stderr = "" } = process.program.exec?.(cmd) ?? { afterMs: 0, code: 0 };
  const text = new TextEncoder();
  const done: cri.ExecSyncResponse = { stdout: text.encode(stdout), stderr: text.encode(stderr), exitCode: code };
  const killed: cri.ExecSyncResponse = { stdout: text.encode(""), stderr: text.encode(""), exitCode: 137 };
  const timeoutMs = timeout > 0n ? Number(timeout) * 1000 : Infinity;
  const ends: Call<cri.ExecSyncResponse>[] = [
    after(longTimer(world.clock, Math.min(afterMs, timeoutMs)), () => {
      if (afterMs <= timeoutMs) return done;
      throw kubeletError("DeadlineExceeded", `failed to exec in container: timeout ${timeout}s exceeded`);
    }),
    concat(process.ended$.pipe(ignoreElements()), of(killed)),
  ];
  return merge(...ends).pipe(take(1));
}
