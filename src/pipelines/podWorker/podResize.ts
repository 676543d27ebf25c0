/**
 * Actuates the allocated size of a running pod, step by step; the next sync retries a failed step. Bound: one call at
 * a time. Upstream: doPodResizeAction (kuberuntime_manager.go).
 */
import { catchError, concat, defer, EMPTY, ignoreElements, map, type Observable, of, switchMap, tap } from "rxjs";
import {
  type ActualSizes,
  sizedContainers,
  sizesOf,
  specifiedSize,
  withContainerSize,
  withContainerSizes,
  withAskedSize,
  withReportedSizes,
} from "../../core/allocation/actualSizes.ts";
import { allocationOf, sameAllocation, unknownAllocation } from "../../core/allocation/podAllocation.ts";
import { resizeCompletedEvent, resizeErrorEvent } from "../../core/allocation/resizeMessages.ts";
import {
  memoryDecreaseProblem,
  type MemoryUsage,
  type ResizePlan,
  type ResizeStep,
} from "../../core/allocation/resizePlan.ts";
import type { Pod } from "../../core/api.ts";
import { containerResources, sandboxOverhead, sandboxResources } from "../../core/container/resources.ts";
import { type KubeletError, kubeletError, toKubeletError } from "../../core/errors.ts";
import type { SandboxId } from "../../core/ids.ts";
import { podCgroupName } from "../../core/resources/podCgroup.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { timedCgroup } from "./makePodCgroup.ts";
import { effect, inspect, type PodContext, podFields } from "../podContext.ts";
import type { AllocationMemory } from "../podMemories.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";
import { failed, type RoundOutput } from "./roundFailure.ts";

/** A resize to actuate, and its pod. */
export interface ResizeTask {
  /** The pod at its allocated size. */
  readonly pod: Pod;
  readonly runtime: PodRuntimeStatus;
  readonly sandboxId: SandboxId;
  readonly plan: ResizePlan;
}

/**
 * Returns the sizes of the pod's containers: those in memory, and, if they are not confirmed since a restart of the
 * kubelet, those that the runtime reports.
 */
export function confirmedSizes({ memory, node }: PodContext, pod: Pod, runtime: PodRuntimeStatus): ActualSizes {
  const { reportAwaited, sizes } = memory.allocation;
  if (!reportAwaited) return sizes;
  return withReportedSizes(pod, runtime, sizes, (spec, { resources }) => {
    const { cpuShares, cpuQuota, memoryLimitInBytes } = containerResources(pod, spec, node);
    return (
      resources?.cpuShares === cpuShares &&
      resources.cpuQuotaUs === cpuQuota &&
      resources.memoryLimitBytes === memoryLimitInBytes
    );
  });
}

/** Notes confirmed sizes; the runtime's report is not needed any more. */
export function noteSizes(allocation: AllocationMemory, sizes: ActualSizes): void {
  allocation.reportAwaited = false;
  allocation.sizes = sizes;
}

/** Carries out a plan up to its first failure. Never errors. */
export function resizePod(context: PodContext, task: ResizeTask): Observable<RoundOutput> {
  const { plan } = task;
  return defer(() => {
    const startedAt = context.ports.clock.monotonicMs();
    let failure: KubeletError | undefined;
    const calls: readonly (() => Observable<KubeletError>)[] = [
      () => checkMemory(context, task),
      ...plan.steps.map((step) => () => take(context, task.pod, step)),
      () => (plan.steps.length > 0 ? updateSandbox(context, task) : EMPTY),
    ];
    const untilFailure$ = inSequence(calls, (call) => (failure === undefined ? call() : EMPTY)).pipe(
      tap((error) => {
        failure = error;
      }),
      ignoreElements(),
    );
    return concat(
      untilFailure$,
      defer(() => {
        const milliseconds = context.ports.clock.monotonicMs() - startedAt;
        const success = String(failure === undefined);
        context.ports.telemetry.metrics.observe("kubelet_pod_resize_duration_milliseconds", milliseconds, { success });
        if (failure === undefined) return noteSuccess(context, task);
        return concat(of(failed(failure)), noteFailure(context, task.pod, failure));
      }),
    );
  });
}

/** Lowering a limit below the current usage would end the container instead of resizing it. */
function checkMemory({ ports }: PodContext, { plan: { decreases }, sandboxId }: ResizeTask): Observable<KubeletError> {
  if (decreases.length === 0) return EMPTY;
  return defer(() => ports.runtime.podSandboxStats({ podSandboxId: sandboxId })).pipe(
    map(({ stats }): MemoryUsage => {
      const containers = (stats?.linux?.containers ?? []).flatMap(({ attributes, memory }) =>
        attributes === undefined || memory?.usageBytes === undefined
          ? []
          : [[attributes.id, memory.usageBytes.value] as const],
      );
      return { pod: stats?.linux?.memory?.usageBytes?.value, containers: new Map(containers) };
    }),
    switchMap((usage) => {
      const problem = memoryDecreaseProblem(decreases, usage);
      return problem === undefined ? EMPTY : of(kubeletError("ResourceExhausted", problem));
    }),
    catchError((thrown: unknown) => of(toKubeletError(thrown))),
  );
}

/** Takes a step of the plan; emits its failure. */
function take(context: PodContext, pod: Pod, step: ResizeStep): Observable<KubeletError> {
  return step.kind === "cgroup" ? writeCgroup(context, pod, step) : updateContainer(context, step);
}

function writeCgroup(
  { ports, config, memory }: PodContext,
  pod: Pod,
  { limits }: ResizeStep & { readonly kind: "cgroup" },
): Observable<KubeletError> {
  const { cgroups } = ports;
  if (cgroups === undefined || !config.cgroupsPerQos) return EMPTY;
  return timedCgroup("update", ports, () => cgroups.ensure(podCgroupName(pod, config), limits)).pipe(
    tap({
      subscribe: () => {
        // The pod is between two sizes, and possibly left there, until all steps are done.
        memory.allocation.sizes = { ...memory.allocation.sizes, cgroup: unknownAllocation(allocationOf(pod)) };
      },
    }),
    ignoreElements(),
    catchError((thrown: unknown) => of(toKubeletError(thrown))),
  );
}

function updateContainer(
  context: PodContext,
  { name, containerId, resources, size }: ResizeStep & { readonly kind: "container" },
): Observable<KubeletError> {
  const { memory, ports } = context;
  const request = { containerId, linux: resources, windows: undefined, annotations: {} };
  return effect(context, { name: "UpdateContainerResources", container: name }, () =>
    ports.runtime.updateContainerResources(request),
  ).pipe(
    tap({
      subscribe: () => {
        memory.allocation.sizes = withAskedSize(memory.allocation.sizes, name, containerId, size);
      },
    }),
    switchMap((updated) => {
      if (!updated.ok) return of(updated.error);
      memory.allocation.sizes = withContainerSize(memory.allocation.sizes, containerId, size);
      ports.telemetry.log.info("Container was resized", { ...podFields(context), container: name, containerId });
      return EMPTY;
    }),
  );
}

/** Updates the sandbox for runtimes that support it; others reject the call, which has no consequence. */
function updateSandbox(context: PodContext, { pod, sandboxId }: ResizeTask): Observable<never> {
  const { ports, node } = context;
  const resources = sandboxResources(pod, node);
  const request = { podSandboxId: sandboxId, overhead: sandboxOverhead(pod, node), resources };
  return effect(context, { name: "UpdatePodSandboxResources" }, () =>
    ports.runtime.updatePodSandboxResources(request),
  ).pipe(ignoreElements());
}

/** Notes that everything has its size, except restarted containers, which get theirs at their creation. */
function noteSuccess(context: PodContext, { pod, runtime, plan }: ResizeTask): Observable<PodOutput> {
  const { memory } = context;
  const restarts = new Set(plan.restarts);
  const resized = sizedContainers(pod, runtime, memory.allocation.sizes)
    .filter(({ spec }) => !restarts.has(spec.name))
    .map(({ spec, instance }) => [instance.id, specifiedSize(pod, spec)] as const);
  memory.allocation.sizes = { ...withContainerSizes(memory.allocation.sizes, resized), cgroup: allocationOf(pod) };
  return of(inspect(context));
}

function noteFailure(context: PodContext, pod: Pod, { message }: KubeletError): Observable<PodOutput> {
  const { memory, ports } = context;
  ports.telemetry.log.warn("Pod resize failed", { ...podFields(context), why: message });
  const { resizing } = memory.allocation;
  // Another size was allocated meanwhile: this failure does not concern it.
  const isNews = isAllocated(context, pod) && resizing.value?.error !== message;
  if (!isNews) return of(inspect(context));
  resizing.set({ generation: pod.metadata.generation, error: message });
  return of(eventOutput(resizeErrorEvent(pod, message)), inspect(context));
}

/**
 * Returns whether the pod has the current allocated size. It may be another object, since its status changes
 * meanwhile.
 */
const isAllocated = (
  {
    memory: {
      allocation: { allocated },
    },
  }: PodContext,
  pod: Pod,
): boolean => allocated !== undefined && sameAllocation(allocationOf(allocated), allocationOf(pod));

/** Reports the end of a resize, once, when the pod was seen at its allocated size. */
export function concludeResize(context: PodContext, pod: Pod): readonly PodOutput[] {
  const { memory, identity } = context;
  if (memory.allocation.resizing.value === undefined || !isAllocated(context, pod)) return [];
  memory.allocation.sizes = sizesOf(allocationOf(pod));
  memory.allocation.resizing.set(undefined);
  return [eventOutput(resizeCompletedEvent(pod)), { kind: "resized", uid: identity.uid }];
}
