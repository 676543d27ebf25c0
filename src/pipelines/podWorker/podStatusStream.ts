/**
 * The API status of one pod, computed again after each change of spec, runtime status, failures, verdicts or addresses,
 * even while a sync runs. Also emits the end of the pod: `finished` after its containers have ended, `deadlineExceeded`
 * after its active deadline. Owner of the memory `reported`. Upstream: generateAPIPodStatus in kubelet.SyncPod.
 */
import { EMPTY, merge, type Observable, switchMap } from "rxjs";
import { atActualSize } from "../../core/allocation/actualSizes.ts";
import type { Pod, PodStatus } from "../../core/api.ts";
import { withDeviceHealth } from "../../core/device/deviceHealth.ts";
import { withClaimedResources } from "../../core/dra/claimedResources.ts";
import { hasClaims } from "../../core/dra/podClaims.ts";
import type { PodCommand, PodIdentity } from "../../core/pod/podRegistry.ts";
import { isStaticPod } from "../../core/pod/criticalPod.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import { hasLostItsSandbox } from "../../core/pod/newSandboxActions.ts";
import { generatePodStatus, type StatusOverride } from "../../core/pod/status.ts";
import { statusTimes } from "../../core/pod/statusTimes.ts";
import { terminatedPodStatus } from "../../core/pod/terminatedStatus.ts";
import { sameValue } from "../../core/sameValue.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import { hasRecursiveReadOnlyMounts, runtimeHandlerOf } from "../../core/runtime/runtimeHandler.ts";
import { hasRunningContainer } from "../../core/runtime/isRunning.ts";
import { withHooksRunning } from "../../core/probe/probeVerdict.ts";
import { VERBOSITY } from "../../core/telemetry/verbosity.ts";
import { eachOf } from "../../operators/eachOf.ts";
import { whenever } from "../../operators/whenever.ts";
import { activeDeadline } from "./activeDeadlineTimer.ts";
import { podFields, type PodContext, seesOwnEffects } from "../podContext.ts";
import { failuresAt } from "../podFailures.ts";
import { countExits } from "./podMetrics.ts";
import type { PodOutput } from "../podOutputs.ts";

/** Statuses under each command; `inspected$` emits after an inspection of this pod. */
export function podStatusStream(
  contextOf: (identity: PodIdentity) => PodContext,
  commands$: Observable<PodCommand>,
  inspected$: Observable<unknown>,
): Observable<PodOutput> {
  return commands$.pipe(
    switchMap((command) => {
      const context = contextOf(command.identity);
      const { failures, probing, hooks, rounds, allocation } = context.memory;
      const changes$ = whenever(
        ...deviceChanges(context, command),
        inspected$,
        failures.changes$,
        probing.verdicts.changes$,
        hooks.postStarting.changes$,
        rounds.restarting.changes$,
        allocation.resizing.changes$,
        context.readdressed$,
        ...(reportsHealth(context) ? [context.state.devices.changes$] : []),
      );
      const outputs$ = changes$.pipe(eachOf(() => statusOutputs(context, command)));
      const overdue$ = activeDeadline(context, command, inspected$);
      return overdue$ === EMPTY ? outputs$ : merge(outputs$, overdue$);
    }),
  );
}

/** Changes of claimed devices, for pods that have any. */
const deviceChanges = ({ config, state }: PodContext, { pod }: PodCommand): readonly Observable<unknown>[] =>
  config.draGates.health && pod !== undefined && hasClaims(pod)
    ? [state.claims.changes$, state.deviceHealths.changes$]
    : [];

/** Returns the status with the health of the devices that the pod claims. */
function withDevices({ config, state }: PodContext, pod: Pod, status: PodStatus): PodStatus {
  if (!config.draGates.health || !hasClaims(pod)) return status;
  const claimed = {
    infos: state.claims.value,
    healths: state.deviceHealths.value,
    withMessages: config.draGates.healthMessages,
  };
  return { ...status, containerStatuses: withClaimedResources(pod, status.containerStatuses ?? [], claimed) };
}

/** Only a node with device plugins follows the health of devices. */
const reportsHealth = ({ config, ports }: PodContext): boolean =>
  config.draGates.health && ports.devicePlugins !== undefined;

/** Differs from upstream: there such a pod stays Pending for good. */
const SANDBOX_LOST: StatusOverride = {
  phase: "Failed",
  reason: "SandboxLost",
  message: "The pod's sandbox is gone and its restart policy does not allow another one",
};

/** Whether a sync is restarting containers, or no inspection shows the effects of the last sync yet. */
const isStartingAgain = (context: PodContext): boolean =>
  context.memory.rounds.restarting.value || !seesOwnEffects(context);

/** Whether the end of all containers is the end of the pod, since none of them is being restarted. */
function isEnd(context: PodContext, { status: reported }: Pod): boolean {
  const { memory } = context;
  const isKnown =
    memory.reported.override !== undefined || isTerminalPhase((memory.reported.status ?? reported)?.phase);
  return isKnown || !isStartingAgain(context);
}

/**
 * Whether no container runs (`quiet`), and the sync that the end of the pod has abandoned starts none any more (`stopped`).
 * How the pod ended is known only then.
 */
function endOf(context: PodContext, runtime: PodRuntimeStatus): "running" | "quiet" | "stopped" {
  if (hasRunningContainer(runtime)) return "running";
  return seesOwnEffects(context) && context.memory.effects.lasting.value === 0 ? "stopped" : "quiet";
}

function statusOutputs(context: PodContext, command: PodCommand): readonly PodOutput[] {
  const { memory, ports, identity, config } = context;
  const runtime = context.runtimeStatus();
  // A pod that is being removed reports no status.
  const isGoing = command.phase === "terminated" && command.remove;
  if (runtime === undefined || command.pod === undefined || isGoing) return [];
  countExits(context, runtime, command, memory.reported.status === undefined);
  if (command.phase === "terminating" && command.override !== undefined) memory.reported.override = command.override;
  const end = command.phase === "terminating" ? endOf(context, runtime) : undefined;
  const refused = command.phase === "sync" ? command.refused : undefined;
  const inProgress = command.phase === "sync" ? memory.allocation.resizing.value : undefined;
  const isLost = command.phase === "sync" && hasLostItsSandbox(command.pod, runtime);
  const handler = runtimeHandlerOf(command.pod, context.state.runtimeClasses.value);
  const generated = generatePodStatus({
    pod: command.pod,
    runtime,
    failures: new Map(failuresAt(memory, runtime.sequence).map(([name, { error }]) => [name, error])),
    verdicts: withHooksRunning(memory.probing.verdicts.value, memory.hooks.postStarting.value),
    previous: memory.reported.status,
    earlier: memory.reported.earlier,
    now: ports.clock.wallTime(),
    node: {
      hostIPs: context.node.nodeIps,
      runtimeName: context.state.runtimeState.value.runtimeName,
      recursiveReadOnly: handler.ok && hasRecursiveReadOnlyMounts(context.state.runtimeState.value, handler.value),
    },
    terminal: command.phase === "terminated" || end === "stopped",
    resize: { refused, inProgress },
    actual:
      memory.allocation.resizing.value === undefined
        ? command.pod
        : atActualSize(command.pod, runtime, memory.allocation.sizes),
    reportsPodResources: config.resizableParts.podLevel,
    reportsReadyToStart: config.reportsReadyToStart,
    override: memory.reported.override ?? (isLost ? SANDBOX_LOST : undefined),
    ...(command.phase === "sync" && isStartingAgain(context) ? { startingAgain: memory.rounds.replacing } : {}),
  });
  // In the status of a terminated pod every container has terminated, even one that the runtime has lost.
  const ended = command.phase === "terminated" ? terminatedPodStatus(command.pod, generated) : generated;
  const claimed = withDevices(context, command.pod, ended);
  const status = reportsHealth(context)
    ? withDeviceHealth(claimed, memory.allocation.hardware, context.state.devices.value)
    : claimed;
  const isUndecided = command.phase === "sync" ? !isEnd(context, command.pod) : end === "quiet";
  if (isTerminalPhase(status.phase) && isUndecided) return [];
  const outputs: PodOutput[] = [];
  if (memory.reported.status === undefined || !sameValue(memory.reported.status, status)) {
    context.starts.observe(memory.start, command.pod, memory.reported.status, status);
    memory.reported.status = status;
    if (isStaticPod(command.pod)) memory.reported.times.set(statusTimes(status));
    ports.telemetry.log.verbose("podStatusStream", VERBOSITY.podStatuses, "Pod status changed", () => ({
      ...podFields(context),
      phase: status.phase,
      conditions: (status.conditions ?? []).filter(({ status: is }) => is === "True").map(({ type }) => type),
    }));
    memory.reported.firstAt ??= ports.clock.monotonicMs();
    outputs.push({ kind: "status", uid: identity.uid, status });
  }
  if (command.phase === "sync" && !memory.reported.finished && isTerminalPhase(status.phase)) {
    memory.reported.finished = true;
    outputs.push({ kind: "finished", uid: identity.uid });
  }
  return outputs;
}
