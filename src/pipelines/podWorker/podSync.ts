/**
 * A sync of a pod that should run: first decides (computePodActions), then carries the decision out (syncSteps.ts).
 * Upstream: kuberuntime SyncPod.
 */
import { EMPTY, type Observable, tap } from "rxjs";
import { planResize } from "../../core/allocation/resizePlan.ts";
import type { Pod } from "../../core/api.ts";
import { objectsReadBy } from "../../core/configObjects.ts";
import type { KubeletError } from "../../core/errors.ts";
import { type ContainerId, podUid } from "../../core/ids.ts";
import { computePodActions, startsOf } from "../../core/pod/podActions.ts";
import type { ContainerStart, PodActions } from "../../core/pod/podActionsTypes.ts";
import type { PodCommand } from "../../core/pod/podRegistry.ts";
import { hasClaims } from "../../core/dra/podClaims.ts";
import { podMeaning } from "../../core/pod/podUpdate.ts";
import { newestContainer } from "../../core/pod/restartRules.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import { NO_VOLUMES, unmountedVolumes } from "../../core/volume/podVolumes.ts";
import { usedVolumes } from "../../core/volume/volumeLayout.ts";
import { podSpan } from "../../core/tracing/spanStart.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { PodContext } from "../podContext.ts";
import type { PodOutput } from "../podOutputs.ts";
import { isIdle, isStillIdle, syncBasis } from "./idleSync.ts";
import { measureRun, observeIdleSync, observeWorkerStart } from "./podMetrics.ts";
import { confirmedSizes, noteSizes } from "./podResize.ts";
import { limitConfigOf } from "./makePodCgroup.ts";
import { podRound } from "./podRound.ts";
import { steer, steeredPolicy } from "./steerCrashLoop.ts";
import { type PodResize, type SyncRun, syncSteps } from "./syncSteps.ts";

/** Syncs once from the state as last inspected. Never errors; ends early between two effects when `stop` is aborted. */
export function syncPod(
  context: PodContext,
  command: PodCommand & { readonly phase: "sync" },
  stop: AbortSignal,
): Observable<PodOutput> {
  const { memory, ports } = context;
  const { pod } = command;
  if (isStillIdle(context, command)) {
    observeIdleSync(context);
    return EMPTY;
  }
  const basis = syncBasis(context, command);
  memory.rounds.idleBasis = undefined;
  let run: SyncRun | undefined;
  const round$ = podRound(context, {
    plan: (runtime) => {
      const sizes = confirmedSizes(context, pod, runtime);
      const resizePlan = planResize({ pod, runtime, sizes, node: context.node, config: limitConfigOf(context, pod) });
      const actions = computePodActions({
        pod,
        runtime,
        verdicts: memory.probing.verdicts.value,
        resizeRestarts: new Set(resizePlan?.restarts),
        backoffs: memory.crashLoop.backoffs,
        backoffPolicy: steeredPolicy(context, pod),
        now: ports.clock.monotonicMs(),
      });
      const resize: PodResize = actions.killPod || actions.createSandbox ? undefined : { plan: resizePlan };
      const isResizing = memory.allocation.resizing.value !== undefined;
      const objects = objectsReadBy(pod, memory.objects.value, context.state.runtimeClasses.value);
      const unmounted = unmountedOf(context, pod);
      const runtimeState = context.state.runtimeState.value;
      const claims = hasClaims(pod) ? context.dynamicResources.basisOf(pod) : undefined;
      return { pod, claims, objects, runtimeState, actions, sizes, resize, isResizing, unmounted };
    },
    // The API server sends our own status back, which is no reason to try again.
    essence: ({ actions, pod: wanted, sizes: _, ...basis }) => ({
      ...basis,
      wanted: podMeaning(wanted),
      actions: essenceOf(actions),
    }),
    span: () => podSpan("syncPod", context.identity, operationOf(memory.rounds.synced, command)),
    act: ({ actions, sizes, resize, unmounted }, runtime, under) => {
      const operation = operationOf(memory.rounds.synced, command);
      memory.rounds.synced = command;
      noteSizes(memory.allocation, sizes);
      if (operation === "create") observeWorkerStart(context, pod);
      memory.rounds.replacing = instancesReplacedBy(actions, runtime);
      memory.rounds.restarting.set(stopsToStartAgain(actions));
      const errors: KubeletError[] = [];
      const begun = { context: under, pod, runtime, actions, resize, unmounted, stop, errors };
      run = { ...begun, sandbox: undefined, ahead: new Map(), failed: new Set(), podStart: "none" };
      const carriedOut$ = syncSteps(run).pipe(measureRun(context, operation));
      if (!isIdle(actions) || resize?.plan !== undefined) return carriedOut$;
      const settle = (): void => {
        if (errors.length === 0) memory.rounds.idleBasis = basis;
      };
      return carriedOut$.pipe(tap({ complete: settle }));
    },
    left: (plan) => (run === undefined || run.failed.size === 0 ? undefined : { ...plan, ...leftBy(run) }),
  });
  return inSequence([() => steer(context, pod), () => round$], (next) => next());
}

/**
 * Returns the remaining actions: everything before a failed start was done, so only containers that did not start
 * remain.
 */
function leftBy({ actions, failed }: SyncRun): { readonly actions: PodActions; readonly resize: PodResize } {
  const isLeft = ({ name }: ContainerStart): boolean => failed.has(name);
  const { initContainersToStart, ephemeralContainersToStart, containersToStart } = actions;
  return {
    actions: {
      ...actions,
      killPod: false,
      createSandbox: false,
      containersToKill: [],
      initContainersToStart: initContainersToStart.filter(isLeft),
      ephemeralContainersToStart: ephemeralContainersToStart.filter(isLeft),
      containersToStart: containersToStart.filter(isLeft),
    },
    resize: { plan: undefined },
  };
}

const stopsToStartAgain = ({ containersToKill, containersToReset, killPod, createSandbox }: PodActions): boolean =>
  containersToKill.length + containersToReset.length > 0 || (killPod && createSandbox);

/**
 * Returns the plan without attempt numbers: they grow with the remains of a failed try, so plans that differ only in
 * them are the same plan.
 */
function essenceOf(actions: PodActions): unknown {
  const { killPod, createSandbox, containersToKill, waits, containersToReset } = actions;
  const starts = startsOf(actions).map(({ name, backoff }) => ({ name, backoff }));
  const resets = containersToReset.map(({ container, kill }) => ({ id: container.id, kill }));
  return { killPod, createSandbox, containersToKill, waits, starts, resets };
}

/** The newest instances, as far as there are any, of the containers to be started. */
const instancesReplacedBy = (actions: PodActions, runtime: PodRuntimeStatus): ReadonlySet<ContainerId> =>
  new Set(startsOf(actions).flatMap(({ name }) => newestContainer(runtime, name)?.id ?? []));

function operationOf(synced: PodCommand | undefined, command: PodCommand): "create" | "update" | "sync" {
  if (synced === undefined) return "create";
  return synced === command ? "sync" : "update";
}

const unmountedOf = ({ state: { volumes } }: PodContext, pod: Pod): readonly string[] =>
  unmountedVolumes(
    usedVolumes(pod).map(({ name }) => name),
    volumes.get(podUid(pod.metadata.uid)) ?? NO_VOLUMES,
  );
