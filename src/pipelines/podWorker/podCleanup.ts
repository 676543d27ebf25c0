/**
 * Removes everything of a stopped pod: containers, sandboxes, and once the runtime shows none, cgroup, logs and
 * directories. Repeated until everything is gone. Upstream: SyncTerminatedPod, pod deletor, container and cgroup GC.
 */
import { catchError, concat, defer, EMPTY, ignoreElements, type Observable, of, switchMap, takeWhile } from "rxjs";
import type { Pod } from "../../core/api.ts";
import type { PodCommand } from "../../core/pod/podRegistry.ts";
import { toKubeletError } from "../../core/errors.ts";
import { isLogLinkOf, podDir, podLogDir } from "../../core/paths.ts";
import { podSpan, type SpanStart } from "../../core/tracing/spanStart.ts";
import { isAllUnmounted, NO_VOLUMES } from "../../core/volume/podVolumes.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { reconcile } from "../../operators/reconcile.ts";
import type { Call } from "../../ports/call.ts";
import { destroyPodCgroup } from "./makePodCgroup.ts";
import { type PodContext, podFields } from "../podContext.ts";
import type { PodOutput } from "../podOutputs.ts";
import { podRound, wakeAfter } from "./podRound.ts";
import { removeFromRuntime } from "./removeFromRuntime.ts";
import { andThen, failed, type RoundOutput } from "./roundFailure.ts";
import { removeRarelyMounted } from "../volumes/removeUnmounted.ts";

type Terminated = PodCommand & { readonly phase: "terminated" };

/** Emits `removed` once nothing is left but containers and logs of a pod that starts again, then completes. */
export function cleanUpPod(
  context: PodContext,
  { pod, startsAgain = false }: Terminated,
  triggers$: Observable<unknown>,
): Observable<PodOutput> {
  const { telemetry, clock } = context.ports;
  const round = (): Observable<PodOutput> =>
    podRound(context, {
      plan: ({ containers, sandboxes }) => ({
        ids: startsAgain ? [] : [...containers, ...sandboxes].map(({ id }) => id),
        areVolumesGone: areVolumesGone(context),
      }),
      span: ({ ids, areVolumesGone: isDue }) => (isDue || ids.length > 0 ? spanOf(context) : undefined),
      act: ({ ids, areVolumesGone: isDue }, { containers, sandboxes }, under) => {
        const files$ = isDue ? removeFromDisk(context, pod, startsAgain) : EMPTY;
        // Files stay, and the pod keeps its record, until the runtime shows that it is gone.
        const removed$ = ids.length > 0 ? removeFromRuntime(under, containers, sandboxes) : files$;
        return removed$.pipe(
          andThen((errors) => {
            if (errors.length > 0) {
              telemetry.log.warn("Removing a pod failed, trying again", { ...podFields(context), errors });
            }
            const isGone = errors.length === 0 && ids.length === 0 && isDue;
            return isGone ? of<PodOutput>({ kind: "removed", uid: context.identity.uid }) : EMPTY;
          }),
        );
      },
      untilShown: true,
    });
  return reconcile({ triggers$, run: round, wakeAfterMs: () => wakeAfter(context), clock }).pipe(
    takeWhile((output) => output.kind !== "removed", true),
  );
}

/**
 * Releases volumes, cgroup and user IDs of a terminal pod; its containers and logs stay. Emits `reclaimed` once they
 * are released, then completes. Upstream: SyncTerminatedPod.
 */
export function reclaimPod(
  context: PodContext,
  pod: Pod | undefined,
  triggers$: Observable<unknown>,
): Observable<PodOutput> {
  const { telemetry, clock } = context.ports;
  const round = (): Observable<PodOutput> =>
    podRound(context, {
      plan: () => areVolumesGone(context),
      span: (isDue) => (isDue ? spanOf(context) : undefined),
      act: (isDue) => {
        if (!isDue) return EMPTY;
        return concat(
          attempt(() => destroyPodCgroup(context, pod)),
          attempt(() => context.userNamespaces.release(context.identity.uid)),
          attempt(() => context.devices.release(context.identity.uid)),
        ).pipe(
          andThen((errors) => {
            if (errors.length === 0) return of<PodOutput>({ kind: "reclaimed", uid: context.identity.uid });
            telemetry.log.warn("Cannot release the resources of a stopped pod, trying again", {
              ...podFields(context),
              errors,
            });
            return EMPTY;
          }),
        );
      },
      untilShown: true,
    });
  return reconcile({ triggers$, run: round, wakeAfterMs: () => wakeAfter(context), clock }).pipe(
    takeWhile((output) => output.kind !== "reclaimed", true),
  );
}

const spanOf = ({ identity }: PodContext): SpanStart => podSpan("syncTerminatedPod", identity);

/**
 * Volumes are removed before the cgroup that is charged for their memory, and before the directory that holds them.
 */
const areVolumesGone = ({ state: { volumes }, identity }: PodContext): boolean =>
  isAllUnmounted(volumes.get(identity.uid) ?? NO_VOLUMES);

/** Makes a call; emits its failure. */
const attempt = (call: () => Call<void>): Observable<RoundOutput> =>
  defer(call).pipe(
    ignoreElements(),
    catchError((thrown: unknown) => of(failed(toKubeletError(thrown)))),
  );

function removeFromDisk(context: PodContext, pod: Pod | undefined, keepsLogs: boolean): Observable<RoundOutput> {
  const { ports, config, identity } = context;
  const removeLogs = (): Observable<RoundOutput> =>
    concat(
      attempt(() => removeLogLinks(context)),
      attempt(() => ports.files.remove(podLogDir(config.directories, identity))),
    );
  return concat(
    attempt(() => destroyPodCgroup(context, pod)),
    keepsLogs ? EMPTY : removeLogs(),
    attempt(() => context.userNamespaces.release(identity.uid)),
    attempt(() => context.devices.release(identity.uid)),
    attempt(() => removeRarelyMounted(ports, podDir(config.directories, identity.uid))),
  );
}

/** Removes links of containers that another client removed; our own removals remove theirs. */
function removeLogLinks({ ports: { files }, config: { directories }, identity }: PodContext): Call<void> {
  const { containerLogsDir } = directories;
  return files.list(containerLogsDir).pipe(
    switchMap((names) => {
      const own = names.filter((name) => isLogLinkOf(identity, name));
      return inSequence(own, (name) => files.remove(`${containerLogsDir}/${name}`));
    }),
  );
}
