/**
 * Devices of pods that are being admitted: has plugins choose and prepare them, and tells the registry. Bounds: one task per
 * pod, and the deadlines of each call; upstream waits without end, and decides about no other pod meanwhile.
 * Upstream: Allocate of pkg/kubelet/cm/devicemanager/manager.go, called during admission.
 */
import { catchError, concat, connect, defer, EMPTY, from, ignoreElements, map, merge, type Observable, of } from "rxjs";
import { switchMap, takeUntil, takeWhile } from "rxjs";
import { ALLOCATION_MS, PREFERENCE_MS } from "../../core/device/pluginDeadlines.ts";
import { toKubeletError } from "../../core/errors.ts";
import { monotonicMs, podUid, type PodUid } from "../../core/ids.ts";
import type { RegistryStep } from "../../core/pod/podRegistry.ts";
import type { BegunPreparation, PreparationChange, PreparationOutcome } from "../../core/pod/registryPreparation.ts";
import type { PodStatusInput } from "../../core/pod/status.ts";
import { eachOf } from "../../operators/eachOf.ts";
import { keyedWorkers } from "../../operators/keyedWorkers.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { PodOutput } from "../podOutputs.ts";
import { resourceWaitReport } from "../resourceWaits.ts";
import { PLUGIN_AWAY, type PodDevices } from "./podDevices.ts";

type Ports = Pick<KubeletPorts, "clock" | "telemetry">;
type Devices = Pick<PodDevices, "prefer" | "prepare" | "undo" | "awaited">;

/** A plugin that has not answered by then is reported. */
const SLOW_MS = 5_000;

/**
 * Emits the end of each task, and reports pods that wait for a slow plugin. A task that fails or that the registry ends
 * gives the devices back.
 *
 *     steps$      --(ask for a)-------------(allocate for a)-------------
 *     plugin        ------ids                 -----ok
 *     output      --------prepared(answered)-------prepared(prepared)----
 *
 * Never errors.
 */
export function devicePreparations(
  steps$: Observable<RegistryStep>,
  ports: Ports,
  devices: Devices,
  node: () => PodStatusInput["node"],
): Observable<PodOutput> {
  const run = (uid: PodUid, { begin }: PreparationChange): Observable<PodOutput> => {
    if (begin === undefined) return undo(uid, devices, ports);
    const { task } = begin;
    const ended$ = outcomeOf(uid, begin, devices).pipe(
      map((outcome): PodOutput => ({ kind: "prepared", uid, task, outcome })),
      catchError((thrown: unknown) => {
        const { reason, message } = toKubeletError(thrown);
        const outcome: PreparationOutcome =
          reason === PLUGIN_AWAY
            ? { kind: "away", awaits: devices.awaited(resourcesOf(begin)) }
            : { kind: "failed", why: message };
        return concat(undo(uid, devices, ports), of<PodOutput>({ kind: "prepared", uid, task, outcome }));
      }),
    );
    const report$ = longTimer(ports.clock, SLOW_MS).pipe(switchMap(() => from(reportOf(begin, ports, node))));
    return ended$.pipe(connect((end$) => merge(end$, report$.pipe(takeUntil(end$)))));
  };
  return steps$.pipe(
    eachOf(({ preparations }) => preparations),
    keyedWorkers<PreparationChange, PodUid, PodOutput>({
      key: ({ uid }) => uid,
      worker: (uid, changes$) =>
        changes$.pipe(
          switchMap((change) => concat(run(uid, change), of("over" as const))),
          takeWhile((output) => output !== "over"),
        ),
    }),
  );
}

/** Runs a task. Errors: why a plugin fails. */
const outcomeOf = (uid: PodUid, { task }: BegunPreparation, devices: Devices): Observable<PreparationOutcome> =>
  task.kind === "ask"
    ? devices.prefer(task.question).pipe(map((ids) => ({ kind: "answered" as const, ids })))
    : concat(
        devices.prepare(uid, task.hardware),
        defer(() => of({ kind: "prepared" as const })),
      );

/** Forgets what plugins have prepared for the pod. Never errors: a checkpoint that names too much is corrected later. */
const undo = (uid: PodUid, devices: Devices, { telemetry }: Ports): Observable<never> =>
  devices.undo(uid).pipe(
    ignoreElements(),
    catchError((thrown: unknown) => {
      telemetry.log.error("Failed to write the checkpoint of devices", { podUid: uid, error: toKubeletError(thrown) });
      return EMPTY;
    }),
  );

/** Returns the resources of a task. */
const resourcesOf = ({ task }: Pick<BegunPreparation, "task">): readonly string[] =>
  task.kind === "ask"
    ? [task.question.resource]
    : [...task.hardware.values()].flatMap(({ devices = new Map<string, readonly string[]>() }) => [...devices.keys()]);

/** Reports that a pod waits for plugins. */
function reportOf({ pod, task }: BegunPreparation, ports: Ports, node: () => PodStatusInput["node"]): PodOutput[] {
  const resources = resourcesOf({ task });
  const leftMs = (task.kind === "ask" ? PREFERENCE_MS : ALLOCATION_MS * resources.length) - SLOW_MS;
  const until = monotonicMs(ports.clock.monotonicMs() + leftMs);
  const name = [...new Set(resources)].join(", ");
  return resourceWaitReport(pod, [{ uid: podUid(""), name, isPlugin: true, until }], ports, node);
}
