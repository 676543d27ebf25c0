/**
 * Starts one container: image, files, create, start, log link, postStart hook. A failure is reported through `failed`
 * and becomes the container's waiting reason. Upstream: kuberuntime_container.go startContainer.
 */
import {
  catchError,
  combineLatest,
  concat,
  defer,
  EMPTY,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  switchMap,
  takeUntil,
} from "rxjs";
import { specifiedSize, withContainerSize } from "../../core/allocation/actualSizes.ts";
import type { Container, Pod } from "../../core/api.ts";
import type { ConfigObjects } from "../../core/configObjects.ts";
import { buildContainerConfig } from "../../core/container/containerConfig.ts";
import { restartCountByLogs } from "../../core/container/restartCount.ts";
import type { EnvFiles } from "../../core/container/envFile.ts";
import { imageUserOf } from "../../core/container/securityContext.ts";
import type { DeviceSettings } from "../../core/device/deviceSettings.ts";
import { type KubeletError, kubeletError, toKubeletError, withReason } from "../../core/errors.ts";
import { wordsOfServer } from "../../core/grpcStatus.ts";
import { containerId as toContainerId, type MonotonicMs } from "../../core/ids.ts";
import { containerLogDir, containerLogLinkPath, containerLogPath, terminationLogPath } from "../../core/paths.ts";
import { containerReferences } from "../../core/pod/podReferences.ts";
import type { ContainerStart } from "../../core/pod/podActionsTypes.ts";
import { isStaticPod } from "../../core/pod/criticalPod.ts";
import { createdEvent, failedEvent, podEventObject, startedEvent } from "../../core/pod/podEvents.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { hasRecursiveReadOnlyMounts } from "../../core/runtime/runtimeHandler.ts";
import { memoryNodesText } from "../../core/numaMemory/memoryBlock.ts";
import { hasNoCpuQuota, ownCpusText } from "../../core/topology/nodeHardware.ts";
import type { ContainerConfig, Image } from "../../gen/cri.ts";
import { aborted } from "../../operators/aborted.ts";
import { orElse } from "../../operators/orElse.ts";
import { makeContainerDirectories, prepareContainerFiles } from "./containerFiles.ts";
import { readEnvFiles } from "./envFiles.ts";
import { inspect, lastingEffect, type PodContext, podFields, volumesOf } from "../podContext.ts";
import { endFailure, noteFailure } from "../podFailures.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";
import { withVolumeImages } from "./imageVolumes.ts";
import type { Ahead } from "./prepareAhead.ts";
import { forgetPostStart, notePostStart, postStart } from "./postStart.ts";
import { removeFromRuntime } from "./removeFromRuntime.ts";
import { collectFailures } from "./roundFailure.ts";
import type { Sandbox } from "./sandbox.ts";

/** A container start and its context. */
export interface StartTask {
  readonly context: PodContext;
  readonly pod: Pod;
  readonly container: Container;
  readonly start: ContainerStart;
  readonly sandbox: Sandbox;
  /** The parts of the start that are done already. */
  readonly ahead: Ahead | undefined;
  /** Ends the wait for the image; the other steps are short and are not interrupted. */
  readonly stop: AbortSignal;
  /** Called with the reason why the container did not start, and the time of the next try if it is known. */
  readonly failed: (error: KubeletError, retryAt: MonotonicMs | undefined) => void;
}

/** Failures whose event has the error message; those of images have their reason. */
const REPORTED_IN_WORDS: ReadonlySet<string> = new Set([
  "AllocateDevicesError",
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
]);

const utf8 = new TextDecoder();

/** Starts the container; never errors. */
export function startContainer(task: StartTask): Observable<PodOutput> {
  const { context, container, sandbox, pod, stop, ahead } = task;
  const { clock } = context.ports;
  const askedAt = clock.monotonicMs();
  const credentials = context.credentials(pod, container);
  const untilStopped$ = context.images
    .ensure({ pod, container, sandboxConfig: sandbox.config, credentials, found: ahead?.image })
    .pipe(takeUntil(aborted(stop)));
  return untilStopped$.pipe(
    switchMap((step) => {
      switch (step.kind) {
        case "event":
          return of(
            eventOutput({ ...step.event, object: podEventObject(pod, step.ofPod ? undefined : container.name) }),
          );
        case "failed":
          return fail(task, step.error, step.retryAt);
        case "ready":
          context.memory.start.pullMs += clock.monotonicMs() - askedAt;
          if (stop.aborted) return EMPTY;
          return withVolumeImages({
            ...task,
            failed: (error, retryAt) => fail(task, error, retryAt),
            ready: (images) => (stop.aborted ? EMPTY : createAndStart(task, step.image, images)),
          });
      }
    }),
  );
}

function fail(task: StartTask, error: KubeletError, retryAt?: MonotonicMs): Observable<PodOutput> {
  const { context, pod, container, failed } = task;
  noteFailure(context.memory, container.name, error, retryAt);
  failed(error, retryAt);
  context.ports.telemetry.metrics.count("kubelet_started_containers_errors_total", {
    container_type: containerType(task),
    code: error.reason,
  });
  const fields = { ...podFields(context), container: container.name, error };
  if (error.code !== "Backoff") context.ports.telemetry.log.warn("Container did not start", fields);
  const cause = REPORTED_IN_WORDS.has(error.reason) ? error.message : error.reason;
  return of(eventOutput(failedEvent(pod, container.name, cause)));
}

function createAndStart(
  task: StartTask,
  image: Image,
  volumeImages: ReadonlyMap<string, string>,
): Observable<PodOutput> {
  const { context, pod, container, sandbox, start } = task;
  const { ports, config } = context;
  const objects$ = context.objects.read(pod, containerReferences(container));
  const devices$ = devicesOf(task);
  const envFiles$ = readEnvFiles(ports.files, volumesOf(context), container);
  const directories$ =
    task.ahead?.hasDirectories === true ? of(ok(undefined)) : makeContainerDirectories(context, task);
  return combineLatest([restartCountOf(task), envFiles$, objects$, devices$, directories$]).pipe(
    switchMap(([restartCount, envFiles, objects, devices, directories]) => {
      if (!devices.ok) return fail(task, devices.error);
      if (!directories.ok) return fail(task, directories.error);
      const logId = ports.rng.uuid().slice(0, 8);
      const terminationLog = terminationLogPath(config.directories, pod.metadata.uid, container.name, logId);
      const counted = { ...task, start: { ...start, restartCount } };
      const built = configOf(counted, image, terminationLog, {
        ...{ envFiles, objects, volumeImages, devices: devices.value },
      });
      if (!built.ok) return fail(task, withReason(built.error, "CreateContainerConfigError"));
      const environment = new Map(built.value.envs.map(({ key, value }) => [key, utf8.decode(value)]));
      const files = { pod, container, podIps: sandbox.podIps, terminationLog, environment };
      return prepareContainerFiles(context, files).pipe(
        switchMap((prepared) => {
          if (!prepared.ok) return fail(task, prepared.error);
          // A mount may have taken so long that the pod terminates meanwhile, and may already be reported as Failed.
          return task.stop.aborted ? EMPTY : create(counted, onCurrentCpus(task, built.value));
        }),
      );
    }),
  );
}

/**
 * The logs record the attempts of a container that the runtime has lost, or that were removed for a restart of the
 * pod.
 */
function restartCountOf({ context, pod, container, start }: StartTask): Observable<number> {
  if (start.restartCount > 0) return of(start.restartCount);
  const { ports, config } = context;
  return ports.files.list(containerLogDir(config.directories, pod.metadata, container.name)).pipe(
    map(restartCountByLogs),
    orElse(() => of(0)),
  );
}

/** Sources of a container config besides the pod. */
interface ConfigSources {
  readonly envFiles: EnvFiles;
  readonly objects: ConfigObjects;
  /** References of the images mounted as volumes, by the name of the volume. */
  readonly volumeImages: ReadonlyMap<string, string>;
  readonly devices: DeviceSettings | undefined;
}

/**
 * Returns the settings for the devices of the container. Plugins prepared them when the pod was admitted; those of a pod that
 * ran before a restart of the machine are prepared again here, so that a failure only delays the container.
 */
function devicesOf({ context, container }: StartTask): Observable<Result<DeviceSettings | undefined>> {
  const wanted = context.memory.allocation.hardware?.get(container.name)?.devices;
  return context.devices.provide(context.identity.uid, container.name, wanted).pipe(
    map((settings) => ok(settings)),
    catchError((thrown: unknown) => of(err(withReason(toKubeletError(thrown), "AllocateDevicesError")))),
  );
}

function configOf(task: StartTask, image: Image, terminationLogPath: string, sources: ConfigSources) {
  const { context, pod, container, sandbox, start } = task;
  const { target, restartCount } = start;
  if (target !== undefined && target.containerId === undefined) {
    return err(kubeletError("NotFound", `unable to find target container ${target.name}`));
  }
  const services = context.state.services.value ?? (isStaticPod(pod) ? [] : undefined);
  if (services === undefined) {
    const message = "services have not yet been read at least once, cannot construct envvars";
    return err(kubeletError("Unavailable", message));
  }
  const devices = context.dynamicResources.devicesOf(pod, container);
  if (!devices.ok) return devices;
  const ownCpus = ownCpusText(context.memory.allocation.hardware, container.name);
  return buildContainerConfig({
    pod,
    container,
    restartCount,
    imageRef: image.id,
    imageUser: imageUserOf(image),
    userNamespace: sandbox.userNamespace,
    recursiveReadOnlyMounts: hasRecursiveReadOnlyMounts(context.state.runtimeState.value, sandbox.runtimeHandler),
    runtimeHandler: sandbox.runtimeHandler,
    podIps: sandbox.podIps,
    terminationLogPath,
    targetContainerId: target?.containerId,
    volumes: volumesOf(context),
    cpus: cpusOf(task),
    cdiDevices: devices.value,
    memoryNodes: memoryNodesText(context.memory.allocation.hardware, container.name),
    hasNoCpuQuota: ownCpus !== undefined && hasNoCpuQuota(context.config.hardware, pod, container),
    ...sources,
    objects: { ...sources.objects, services },
    node: context.node,
  });
}

/** Returns the CPUs that the container may run on now. */
const cpusOf = ({ context, container }: StartTask): string =>
  ownCpusText(context.memory.allocation.hardware, container.name) ?? context.node.sharedCpus;

/** Returns the config with the CPUs of now: others may have got some of them while its files were prepared. */
function onCurrentCpus(task: StartTask, config: ContainerConfig): ContainerConfig {
  const { linux } = config;
  const cpusetCpus = cpusOf(task);
  if (linux?.resources === undefined || linux.resources.cpusetCpus === cpusetCpus) return config;
  return { ...config, linux: { ...linux, resources: { ...linux.resources, cpusetCpus } } };
}

/** An error of the runtime with its message unchanged. */
const refusal = (error: KubeletError, reason: string): KubeletError => ({
  ...withReason(error, reason),
  message: wordsOfServer(error),
});

function create(task: StartTask, config: ContainerConfig): Observable<PodOutput> {
  const { context, pod, container, sandbox, start } = task;
  const { runtime } = context.ports;
  const request = { podSandboxId: sandbox.id, config, sandboxConfig: sandbox.config };
  return lastingEffect(context, { name: "CreateContainer", container: container.name }, () =>
    runtime.createContainer(request),
  ).pipe(
    switchMap((created) => {
      if (!created.ok) {
        return concat(fail(task, refusal(created.error, "CreateContainerError")), of(inspect(context)));
      }
      const { containerId } = created.value;
      const { memory } = context;
      memory.allocation.sizes = withContainerSize(
        memory.allocation.sizes,
        toContainerId(containerId),
        specifiedSize(pod, container),
      );
      // The link is made beside the start, or a kubelet that ends after it would leave a running container without.
      notePostStart(context, container, containerId);
      const errors: KubeletError[] = [];
      const started$ = defer(() => {
        const [error] = errors;
        if (error !== undefined) return fail(task, refusal(error, "RunContainerError"));
        // The pod began to terminate meanwhile, and may already be reported as Failed.
        if (task.stop.aborted) return EMPTY;
        return merge(linkLog(task, containerId), startCreated(task, containerId));
      });
      // Two instances must never run side by side: an earlier one whose start may still be on its way goes first.
      const replaced$ = removeFromRuntime(context, start.replaces ?? [], []).pipe(collectFailures(errors));
      return concat(of(eventOutput(createdEvent(pod, container.name))), replaced$, started$);
    }),
  );
}

function startCreated(task: StartTask, containerId: string): Observable<PodOutput> {
  const { context, pod, container } = task;
  const { runtime, telemetry } = context.ports;
  return lastingEffect(context, { name: "StartContainer", container: container.name }, () =>
    runtime.startContainer({ containerId }),
  ).pipe(
    switchMap((started) => {
      if (!started.ok) {
        // The container may run nevertheless, and then without a hook, as after a restart of the kubelet.
        forgetPostStart(context, container);
        return concat(fail(task, refusal(started.error, "RunContainerError")), of(inspect(context)));
      }
      endFailure(context.memory, container.name);
      telemetry.metrics.count("kubelet_started_containers_total", { container_type: containerType(task) });
      telemetry.log.info("Container started", { ...podFields(context), container: container.name, containerId });
      return concat(
        of(inspect(context), eventOutput(startedEvent(pod, container.name))),
        runPostStart(task, containerId),
      );
    }),
  );
}

function runPostStart(task: StartTask, containerId: string): Observable<PodOutput> {
  const { context, pod, container, sandbox, stop, failed } = task;
  const [podIp] = sandbox.podIps;
  return postStart({
    context,
    pod,
    container,
    containerId,
    podIp,
    stop,
    failed: (error) => {
      noteFailure(context.memory, container.name, error);
      failed(error, undefined);
      context.ports.telemetry.metrics.count("kubelet_started_containers_errors_total", {
        container_type: containerType(task),
        code: error.reason,
      });
    },
  });
}

/** Creates the link that log shippers read; the pod runs even without it. */
function linkLog({ context, pod, container, start }: StartTask, containerId: string): Observable<never> {
  const { files, telemetry } = context.ports;
  const { directories } = context.config;
  const { name, namespace } = pod.metadata;
  const link = { podName: name, namespace, container: container.name, containerId };
  const target = containerLogPath(directories, pod.metadata, container.name, start.restartCount);
  return files.symlink(target, containerLogLinkPath(directories.containerLogsDir, link)).pipe(
    ignoreElements(),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      telemetry.log.warn("Cannot link a container log", { ...podFields(context), container: container.name, error });
      return EMPTY;
    }),
  );
}

const containerType = ({ start }: StartTask): string =>
  start.kind === "init" ? "init_container" : start.kind === "ephemeral" ? "ephemeral_container" : "container";
