/**
 * Stops and removes containers so that their pod can restart in its sandbox. Upstream: ContainersToReset of
 * kuberuntime's SyncPod.
 */
import { defer, EMPTY, type Observable, tap } from "rxjs";
import type { Pod } from "../../core/api.ts";
import type { ContainerReset } from "../../core/pod/restartAllContainers.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { killContainer } from "./killPod.ts";
import type { PodContext } from "../podContext.ts";
import { removeFromRuntime } from "./removeFromRuntime.ts";
import { andThen, type RoundOutput } from "./roundFailure.ts";

/** No time for hooks: TERM, and KILL after the shortest grace period. */
const GRACE_SECONDS = 0;
/** The text of the Killing event. */
const MESSAGE = "killing";

/** Resets one container after the other, up to the first failure. Logs stay. */
export function resetContainers(
  context: PodContext,
  pod: Pod,
  resets: readonly ContainerReset[],
  stop: AbortSignal,
): Observable<RoundOutput> {
  const reset = ({ container, kill, remove }: ContainerReset): Observable<RoundOutput> => {
    const stopping = { containerId: container.id, name: container.name, message: MESSAGE };
    const killed$ = kill ? killContainer(context, pod, stopping, GRACE_SECONDS, { stop }) : EMPTY;
    return killed$.pipe(
      andThen((errors) =>
        remove && errors.length === 0 && !stop.aborted
          ? removeFromRuntime(context, [container], [], { keepLogs: true })
          : EMPTY,
      ),
    );
  };
  return defer(() => {
    let hasFailed = false;
    return inSequence(resets, (each) => (hasFailed || stop.aborted ? EMPTY : reset(each))).pipe(
      tap((output) => {
        hasFailed ||= output.kind === "failed";
      }),
    );
  });
}
