/** Tells the runtime which addresses the cluster has set aside for the pods of this node. Counterpart: updatePodCIDR. */
import { defer, EMPTY, filter, ignoreElements, type Observable, retry, switchMap } from "rxjs";
import type { Node } from "../../core/api.ts";
import { toKubeletError } from "../../core/errors.ts";
import { type BackoffCurve, backoffDelay } from "../../operators/backoffDelay.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { newsOf } from "../../operators/newsOf.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ReadonlyCell } from "../../state/cell.ts";

const BACKOFF: BackoffCurve = { initialMs: 1_000, maxMs: 10_000 };

/** Tells each change until the runtime has heard it; the newest replaces one that is still on its way. */
export const nodePodCidr = (
  node: ReadonlyCell<Node | undefined>,
  { runtime, clock, rng, telemetry }: Pick<KubeletPorts, "runtime" | "clock" | "rng" | "telemetry">,
): Observable<never> =>
  node.changes$.pipe(
    newsOf((known) => (known?.spec?.podCIDRs ?? []).join(",")),
    filter((podCidr) => podCidr !== ""),
    switchMap((podCidr) => {
      telemetry.log.info("Updating Pod CIDR", { podCidr });
      return defer(() => runtime.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr } } })).pipe(
        ignoreElements(),
        retry({
          delay: (thrown: unknown, failures) => {
            const error = toKubeletError(thrown);
            telemetry.log.error("Error updating pod CIDR", { error });
            return error.code === "Unimplemented" ? EMPTY : longTimer(clock, backoffDelay(BACKOFF, failures, rng));
          },
        }),
      );
    }),
  );
