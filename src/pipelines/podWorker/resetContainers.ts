/**
 * Stops and removes containers so that their pod can restart in its sandbox. Upstream: ContainersToReset of
 * kuberuntime's SyncPod.
 */
import { concat, defer, EMPTY, type Observable } from "rxjs";
import type { Pod } from "../../core/api.ts";
import type { KubeletError } from "../../core/errors.ts";
import type { ContainerReset } from "../../core/pod/restartAllContainers.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { killContainer } from "./killPod.ts";
import type { PodContext } from "../podContext.ts";
import type { PodOutput } from "../podOutputs.ts";
import { removeFromRuntime } from "./removeFromRuntime.ts";

/** No time for hooks: TERM, and KILL after the shortest grace period. */
const GRACE_SECONDS = 0;
/** The text of the Killing event. */
const MESSAGE = "killing";

/** Resets one container after the other, up to the first failure, which is added to `errors`. Logs stay. */
export function resetContainers(
  context: PodContext,
  pod: Pod,
  resets: readonly ContainerReset[],
  errors: KubeletError[],
  stop: AbortSignal,
): Observable<PodOutput> {
  const reset = ({ container, kill, remove }: ContainerReset): Observable<PodOutput> => {
    const stopping = { containerId: container.id, name: container.name, message: MESSAGE };
    return concat(
      kill ? killContainer(context, pod, stopping, GRACE_SECONDS, errors, { stop }) : EMPTY,
      defer(() =>
        remove && errors.length === 0 && !stop.aborted
          ? removeFromRuntime(context, [container], [], errors, { keepLogs: true })
          : EMPTY,
      ),
    );
  };
  return inSequence(resets, (each) => (errors.length > 0 || stop.aborted ? EMPTY : reset(each)));
}
