/**
 * Turns desired pods into pod workers: the registry decides the phase of each pod, one worker per UID carries it out.
 * Owner of the registry cell. Bound: one worker per pod. Upstream: pod_workers.go, HandlePodAdditions and similar
 * functions.
 */
import { connect, map, merge, type Observable, tap } from "rxjs";
import type { Pod } from "../core/api.ts";
import type { NodeContext } from "../core/container/nodeContext.ts";
import { type PodUid, podUid } from "../core/ids.ts";
import { invariant, unreachable } from "../core/invariant.ts";
import {
  advanceRegistry,
  type PodCommand,
  type PodRejection,
  type Registry,
  type RegistryInput,
  type RegistryStep,
} from "../core/pod/podRegistry.ts";
import { podEventObject } from "../core/pod/podEvents.ts";
import { rejectedStatus } from "../core/pod/rejectedStatus.ts";
import type { PodStatusInput } from "../core/pod/status.ts";
import { eachInSlices } from "../operators/eachInSlices.ts";
import { eachOf } from "../operators/eachOf.ts";
import { keyedWorkers } from "../operators/keyedWorkers.ts";
import { inStage } from "../operators/loopStage.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { Logger, Metrics } from "../ports/telemetry.ts";
import type { Cell } from "../state/cell.ts";
import { areSourcesSeen } from "../state/milestones.ts";
import type { NodeView } from "../state/nodeState.ts";
import { devicePreparations } from "./devices/devicePreparations.ts";
import { assignmentOf, countedAssignment, startHardwareCounts } from "./node/countHardware.ts";
import { nodeAdmission } from "./node/createNodeContext.ts";
import { type PodOutput, remarkOutputs } from "./podOutputs.ts";
import { countRequestedResizes, resizeEvents } from "./resizeOutputs.ts";
import type { PodServices } from "./podServices.ts";
import { podWorker } from "./podWorker/podWorker.ts";
import { preemption } from "./followPreemption.ts";
import { resourceWaits } from "./resourceWaits.ts";

const REGISTRY = { kind: "registry", text: "pod registry" } as const;
/** A worker takes milliseconds to start: many pods at once must not delay the probes of others. */
const SLICE_MS = 10;

type State = Pick<
  NodeView,
  "listing" | "runtimeState" | "node" | "pressures" | "shuttingDown" | "sourcesSeen" | "devices"
> & {
  /** The cell that this pipeline owns. */
  readonly registry: Cell<Registry>;
};

/**
 * Runs all pods while subscribed. `registry$` carries the differences of the sources, the outputs of the workers and
 * the relists in one order; it comes from a queue.
 */
export function podLifecycle(
  inputs: { readonly registry$: Observable<RegistryInput> },
  services: PodServices,
  state: State,
): Observable<PodOutput> {
  const { ports, config, node } = services;
  const { registry } = state;
  const admission = nodeAdmission(config, ports.machine, state);
  const { clock, telemetry } = ports;
  const assignments = assignmentOf(config);
  startHardwareCounts(config, telemetry.metrics);
  const advance = (input: RegistryInput): RegistryStep => {
    countRequestedResizes(input, registry.value, admission.parts, ports.telemetry.metrics);
    const runtimePods = [...(state.listing.value?.pods.values() ?? [])];
    const before = registry.value;
    const step = advanceRegistry(before, input, {
      ...admission,
      assignHardware: countedAssignment(assignments(state.devices.value), telemetry, clock, config),
      sourcesReady: areSourcesSeen(config, state),
      runtimePods,
      now: ports.clock.monotonicMs(),
    });
    checkCommands(step);
    registry.set(step.registry);
    count(input, before, step, ports.telemetry.metrics);
    return step;
  };
  return inputs.registry$.pipe(
    map((input) => inStage(REGISTRY, () => advance(input))),
    connect((steps$) =>
      merge(
        steps$.pipe(eachOf((step) => [...refusals(step, ports), ...resizeEvents(step, ports.telemetry)])),
        preemption(steps$, ports, state),
        resourceWaits(steps$, ports, state, () => statusNode(node, state)),
        devicePreparations(steps$, ports, services.devices, () => statusNode(node, state)),
        steps$.pipe(
          eachInSlices(({ commands }) => commands, SLICE_MS, ports.clock),
          tap((command) => report(command, ports.telemetry.log)),
          keyedWorkers<PodCommand, PodUid, PodOutput>({
            key: (command) => command.identity.uid,
            worker: (uid, commands$) => podWorker(uid, commands$, services),
            onDrop: () => ports.telemetry.metrics.count("rxlet_dropped_total", { queue: "podCommands" }),
            onLive: (live) => ports.telemetry.metrics.gauge("rxlet_live_keys", live, { worker: "pod" }),
          }),
        ),
      ),
    ),
    tap((output) => {
      if (output.kind === "removed") services.tokens?.forget(output.uid);
    }),
  );
}

/** The node as it appears in the status of a pod without running containers. */
const statusNode = ({ nodeIps }: NodeContext, { runtimeState }: State): PodStatusInput["node"] => ({
  hostIPs: nodeIps,
  runtimeName: runtimeState.value.runtimeName,
});

/** Asserts that the last command for each pod matches its record: its worker must not sync a pod that terminates. */
function checkCommands({ commands, registry: { records } }: RegistryStep): void {
  for (const [uid, { phase }] of new Map(commands.map((command) => [command.identity.uid, command]))) {
    const state = records.get(uid)?.state;
    const isRight = phase === "sync" ? state === "syncing" : state === "terminating" || state === "terminated";
    invariant(isRight, `pod ${uid} is ${state ?? "unknown"} in the registry and gets the command ${phase}`);
  }
}

/** Logs a line per change of phase; an update of a running pod logs none. */
function report(command: PodCommand, log: Logger): void {
  const { namespace, name, uid } = command.identity;
  const pod = { pod: `${namespace}/${name}`, podUid: uid };
  switch (command.phase) {
    case "sync":
      break;
    case "terminating":
      log.info("Stopping pod", { ...pod, isOrphan: command.pod === undefined, graceSeconds: command.graceSeconds });
      break;
    case "terminated":
      log.info(command.remove ? "Pod has stopped and is removed" : "Pod has stopped", pod);
      break;
    default:
      unreachable(command);
  }
}

function count(input: RegistryInput, before: Registry, { orphans, restarted }: RegistryStep, metrics: Metrics): void {
  if (orphans.length > 0) metrics.count("kubelet_orphaned_runtime_pods_total", {}, orphans.length);
  if (restarted.length > 0) metrics.count("kubelet_restarted_pods_total", { static: "true" }, restarted.length);
  if (input.kind !== "update") return;
  const { op, pods } = input.update;
  const isNew = ({ metadata }: Pod): boolean =>
    op === "ADD" || op === "RESTORE" || (op === "SET" && !before.records.has(podUid(metadata.uid)));
  for (const { spec } of pods.filter(isNew)) {
    metrics.observe("kubelet_containers_per_pod_count", spec.containers.length);
  }
}

/** Outputs for pods that never get a worker. */
function refusals({ rejections, dropped }: RegistryStep, ports: KubeletPorts): readonly PodOutput[] {
  const reported = ({ pod, reason, message, remarks }: PodRejection): readonly PodOutput[] => {
    const { name, namespace, uid } = pod.metadata;
    ports.telemetry.log.warn("Pod was rejected", { pod: `${namespace}/${name}`, podUid: uid, reason, why: message });
    ports.telemetry.metrics.count("kubelet_admission_rejections_total", { reason });
    return [
      ...remarkOutputs(podUid(uid), remarks),
      { kind: "event", event: { type: "Warning", reason, message, object: podEventObject(pod) } },
      { kind: "status", uid: podUid(uid), status: rejectedStatus(pod, reason, message, ports.clock.wallTime()) },
    ];
  };
  // A pod that is dropped and rejected in one step was added again in between.
  return [...dropped.map((uid): PodOutput => ({ kind: "removed", uid })), ...rejections.flatMap(reported)];
}
