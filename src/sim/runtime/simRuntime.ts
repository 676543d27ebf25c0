/**
 * A container runtime in virtual time: the CRI ports with containerd's semantics on in-memory records. Owns the
 * records; time and randomness are injected, so that a seed repeats a run exactly.
 */
import { defer, map, merge, type Observable, of, Subject, throwError } from "rxjs";
import type { CriRpc } from "../../core/criOperations.ts";
import { type KubeletError, kubeletError } from "../../core/errors.ts";
import type { RuntimeHandlerState } from "../../core/runtime/runtimeState.ts";
import { CgroupDriver } from "../../gen/cri.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ImageService, RuntimeService } from "../../ports/cri.ts";
import { createSimProcesses } from "../host/simProcesses.ts";
import { createPrng, type Prng } from "../prng.ts";
import {
  atOnce,
  type SimAbandon,
  type SimIntercept,
  type SimLatency,
  type SimUnary,
  simUnary,
  unimplemented,
} from "./simCall.ts";
import * as container from "./simContainerCalls.ts";
import * as image from "./simImageCalls.ts";
import type { WriteHostFile } from "./simProcess.ts";
import { runsForever, type SimPrograms } from "./simProgram.ts";
import type { SimChange, SimContainer, SimEnd, SimImage, SimSandbox } from "./simRecords.ts";
import * as sandbox from "./simSandboxCalls.ts";
import * as stats from "./simStatsCalls.ts";
import { createSimWorld, imagesFill, type SimRuntimeHost, type SimWorld } from "./simWorld.ts";

/** Options of a simulated runtime; all but the clock have a default. */
export interface SimRuntimeOptions {
  readonly clock: Clock;
  readonly prng?: Prng;
  /** The machine it runs on; default: a machine with enough resources. */
  readonly host?: SimRuntimeHost;
  /** Default: every container runs until it is stopped. */
  readonly programs?: SimPrograms;
  /** Images present from the start. */
  readonly images?: readonly SimImage[];
  /** Default: any image after 0.3 to 3 s, except from hosts below `.invalid`. */
  readonly registry?: image.SimRegistry;
  /** Default: see `usualLatency`. */
  readonly latency?: SimLatency;
  /** Default: every request proceeds. */
  readonly intercept?: SimIntercept;
  /** Default: a cancelled request has no effect. */
  readonly goesOn?: SimAbandon;
  /** `false`: as containerd 1.6, without GetContainerEvents and RuntimeConfig. */
  readonly modern?: boolean;
  /** Default: a single unnamed handler with all features. */
  readonly handlers?: readonly RuntimeHandlerState[];
  readonly eventLatencyMs?: number;
  /** First three bytes of pod addresses. */
  readonly podAddresses?: string;
  readonly defaultDeadlineMs?: number;
  /** Receives the termination messages of containers: the simulated host's files. */
  writeHostFile?(...file: Parameters<WriteHostFile>): void;
}

/** A simulated runtime: the ports, the state for checkers, and the controls for accidents. */
export interface SimRuntime {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** Every change when it happens; never completes. */
  readonly changes$: Observable<SimChange>;
  /** Oldest first. */
  sandboxes(): readonly SimSandbox[];
  /** Oldest first. */
  containers(): readonly SimContainer[];
  /** Returns the image of a name, digest or id; undefined if it is not present. */
  image(reference: string): SimImage | undefined;
  /** Adds an image as another client of the runtime does. */
  addImage(image: SimImage): void;
  /** Ends a running container's process, as the kernel does: `{ afterMs: 0, code: 137, reason: "OOMKilled" }`. */
  endContainer(id: string, end: SimEnd): void;
  /** Ends a sandbox's pause process; its containers keep running and its address stays reserved until it is stopped. */
  killSandbox(id: string): void;
  /** Breaks every open event stream; later events reach new subscribers. */
  breakEventStreams(reason: string): void;
  /** Makes Status report a component as not ready; an empty reason makes it ready. */
  setCondition(type: "RuntimeReady" | "NetworkReady", problem: string): void;
  /**
   * Ends the runtime's process: calls in flight and event streams break, and later ones fail until `restart`. With
   * `die` all its processes end too, as when the machine goes down.
   */
  crash(containers: "stay" | "die"): void;
  restart(): void;
  readonly isDown: boolean;
}

const LATENCY_MS: Readonly<Partial<Record<CriRpc, readonly [number, number]>>> = {
  RunPodSandbox: [80, 250],
  StopPodSandbox: [20, 80],
  RemovePodSandbox: [20, 60],
  CreateContainer: [15, 50],
  StartContainer: [30, 90],
  StopContainer: [2, 10],
  RemoveContainer: [10, 40],
  ExecSync: [15, 50],
  PullImage: [2, 10],
};
const QUICK_MS: readonly [number, number] = [1, 4];

/** Returns latencies like those of containerd on a small machine, drawn from `prng`. */
export const usualLatency =
  (prng: Prng): SimLatency =>
  (rpc) =>
    prng.int(...(LATENCY_MS[rpc] ?? QUICK_MS));

/** Returns registries with every image except those of hosts below `.invalid`. */
export const usualRegistry =
  (prng: Prng): image.SimRegistry =>
  (reference) =>
    /^[^/]*\.invalid\//.test(reference)
      ? { ms: prng.int(10, 50), error: image.imageNotFound(reference) }
      : { ms: prng.int(300, 3_000), image: image.simImage(reference) };

/** Creates a runtime with `images` only. */
export function createSimRuntime(options: SimRuntimeOptions): SimRuntime {
  const { clock, prng = createPrng("runtime"), eventLatencyMs = 1, podAddresses = "10.1.0" } = options;
  const handlers = options.handlers ?? [{ name: "", recursiveReadOnlyMounts: true, userNamespaces: true }];
  const host = options.host ?? { processes: createSimProcesses() };
  const world = createSimWorld(clock, prng.fork("ids"), { host, podAddresses, eventLatencyMs, handlers });
  for (const present of options.images ?? []) world.images.set(present.id, present);
  host.disk?.fill("/", "images", imagesFill(options.images ?? []));
  const broken = new Subject<string>();
  const died = new Subject<KubeletError>();
  let isDown = false;
  const refused = kubeletError("Unavailable", "connection refused: the runtime does not run");
  const intercept: SimIntercept = (rpc, request) =>
    isDown ? { kind: "fail", error: refused } : (options.intercept?.(rpc, request) ?? { kind: "proceed" });
  const settings = {
    clock,
    died$: died,
    latency: options.latency ?? usualLatency(prng.fork("latency")),
    intercept,
    goesOn: options.goesOn ?? (() => false),
    defaultDeadlineMs: options.defaultDeadlineMs ?? 120_000,
  };
  const unary = simUnary(settings);
  const modern = options.modern ?? true;
  return {
    runtime: {
      ...aboutTheNode(world, unary, modern),
      ...sandboxesAndContainers(world, unary, options),
      ...statistics(world, unary),
      getContainerEvents: modern ? events(world, settings.intercept, broken) : unimplemented("GetContainerEvents"),
    },
    images: imageService(world, unary, options.registry ?? usualRegistry(prng.fork("registry"))),
    changes$: world.changes$,
    sandboxes: () => [...world.sandboxes.values()],
    containers: () => [...world.containers.values()],
    image: (reference) => image.findImage(world, reference),
    addImage: (added) => image.storeImage(world, added),
    endContainer: (id, end) => world.processes.get(id)?.endAfter(end),
    killSandbox: (id) => sandbox.endSandbox(world, id, false),
    breakEventStreams: (reason) => broken.next(reason),
    setCondition: (type, problem) => void world.conditions.set(type, problem),
    crash(containers) {
      isDown = true;
      died.next(kubeletError("Unavailable", "connection reset: the runtime ended"));
      broken.next("the runtime ended");
      if (containers === "die") endEverything(world);
    },
    restart() {
      isDown = false;
    },
    get isDown() {
      return isDown;
    },
  };
}

/** Reports the containers that exited while the runtime was down, as containerd does. */
function endEverything(world: SimWorld): void {
  for (const process of [...world.processes.values()]) process.endNow({ afterMs: 0, code: 255, reason: "Unknown" });
  for (const id of [...world.sandboxes.keys()]) sandbox.endSandbox(world, id, false);
}

function aboutTheNode(world: SimWorld, unary: SimUnary, modern: boolean) {
  return {
    version: unary("Version", () =>
      of({ version: "0.1.0", runtimeName: "simulated", runtimeVersion: "v1.0.0", runtimeApiVersion: "v1" }),
    ),
    status: unary("Status", () =>
      atOnce(() => ({
        status: {
          conditions: [...world.conditions].map(([type, problem]) => ({
            type,
            status: problem === "",
            reason: problem === "" ? "" : `${type.replace("Ready", "")}PluginNotReady`,
            message: problem,
          })),
        },
        info: {},
        runtimeHandlers: world.handlers.map(({ name, ...features }) => ({ name, features })),
        features: { supplementalGroupsPolicy: true, userNamespacesHostNetwork: false },
      })),
    ),
    runtimeConfig: modern
      ? unary("RuntimeConfig", () => of({ linux: { cgroupDriver: CgroupDriver.CGROUPFS } }))
      : unimplemented("RuntimeConfig"),
    updateRuntimeConfig: unary("UpdateRuntimeConfig", () => of({})),
  } satisfies Partial<RuntimeService>;
}

function sandboxesAndContainers(world: SimWorld, unary: SimUnary, options: SimRuntimeOptions) {
  const programs = options.programs ?? (() => runsForever);
  const writeHostFile: WriteHostFile = (...file) => options.writeHostFile?.(...file);
  return {
    runPodSandbox: unary("RunPodSandbox", (request) => sandbox.runPodSandbox(world, request)),
    stopPodSandbox: unary("StopPodSandbox", (request) => sandbox.stopPodSandbox(world, request)),
    removePodSandbox: unary("RemovePodSandbox", (request) => sandbox.removePodSandbox(world, request)),
    podSandboxStatus: unary("PodSandboxStatus", (request) => sandbox.podSandboxStatus(world, request)),
    listPodSandbox: unary("ListPodSandbox", (request) => sandbox.listPodSandbox(world, request)),
    streamPodSandboxes: unimplemented("StreamPodSandboxes"),
    updatePodSandboxResources: unary("UpdatePodSandboxResources", () => of({})),
    createContainer: unary("CreateContainer", (request) => container.createContainer(world, request)),
    startContainer: unary("StartContainer", (request) =>
      container.startContainer(world, programs, writeHostFile, request),
    ),
    stopContainer: unary("StopContainer", (request) => container.stopContainer(world, request)),
    removeContainer: unary("RemoveContainer", (request) => container.removeContainer(world, request)),
    containerStatus: unary("ContainerStatus", (request) => container.containerStatus(world, request)),
    listContainers: unary("ListContainers", (request) => container.listContainers(world, request)),
    streamContainers: unimplemented("StreamContainers"),
    updateContainerResources: unary("UpdateContainerResources", (request) =>
      container.updateContainerResources(world, request),
    ),
    reopenContainerLog: unary("ReopenContainerLog", (request) =>
      container.reopenContainerLog(world, writeHostFile, request),
    ),
    checkpointContainer: unimplemented("CheckpointContainer"),
    execSync: unary("ExecSync", (request) => container.execSync(world, request)),
    exec: unimplemented("Exec"),
    attach: unimplemented("Attach"),
    portForward: unimplemented("PortForward"),
  } satisfies Partial<RuntimeService>;
}

function statistics(world: SimWorld, unary: SimUnary) {
  return {
    containerStats: unary("ContainerStats", (request) => stats.containerStats(world, request)),
    listContainerStats: unary("ListContainerStats", (request) => stats.listContainerStats(world, request)),
    streamContainerStats: unimplemented("StreamContainerStats"),
    podSandboxStats: unary("PodSandboxStats", (request) => stats.podSandboxStats(world, request)),
    listPodSandboxStats: unary("ListPodSandboxStats", (request) => stats.listPodSandboxStats(world, request)),
    streamPodSandboxStats: unimplemented("StreamPodSandboxStats"),
    listMetricDescriptors: unimplemented("ListMetricDescriptors"),
    listPodSandboxMetrics: unimplemented("ListPodSandboxMetrics"),
    streamPodSandboxMetrics: unimplemented("StreamPodSandboxMetrics"),
  } satisfies Partial<RuntimeService>;
}

/** Streams events from the subscription on. A `fail` of the interceptor rejects it. */
function events(
  world: SimWorld,
  intercept: SimIntercept,
  broken$: Observable<string>,
): RuntimeService["getContainerEvents"] {
  const breaks$ = broken$.pipe(
    map((reason) => {
      throw kubeletError("Unavailable", reason);
    }),
  );
  return (request) =>
    defer(() => {
      const action = intercept("GetContainerEvents", request);
      return action.kind === "fail" ? throwError(() => action.error) : merge(world.events$, breaks$);
    });
}

function imageService(world: SimWorld, unary: SimUnary, registry: image.SimRegistry): ImageService {
  return {
    listImages: unary("ListImages", (request) => image.listImages(world, request)),
    streamImages: unimplemented("StreamImages"),
    imageStatus: unary("ImageStatus", (request) => image.imageStatus(world, request)),
    pullImage: unary("PullImage", (request) => image.pullImage(world, registry, request)),
    removeImage: unary("RemoveImage", (request) => image.removeImage(world, request)),
    imageFsInfo: unary("ImageFsInfo", () => image.imageFsInfo(world)),
  };
}
