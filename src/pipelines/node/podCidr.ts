/**
 * Gives the runtime the address ranges of this node's pods: those of the Node in a cluster, `podCIDR` of the
 * configuration otherwise. Bound: one request at a time. Counterpart: updatePodCIDR of pkg/kubelet/kubelet_network.go.
 */
import { defer, EMPTY, filter, ignoreElements, type Observable, of, retry, switchMap } from "rxjs";
import type { Node } from "../../core/api.ts";
import { toKubeletError } from "../../core/errors.ts";
import { type BackoffCurve, backoffDelay } from "../../operators/backoffDelay.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { newsOf } from "../../operators/newsOf.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ReadonlyCell } from "../../state/cell.ts";

const BACKOFF: BackoffCurve = { initialMs: 1_000, maxMs: 10_000 };

/** Where the ranges come from: the Node follows its API server, the configuration holds for a node without one. */
export type PodCidrOrigin =
  | { readonly kind: "node"; readonly node: ReadonlyCell<Node | undefined> }
  | { readonly kind: "configuration"; readonly podCidr: string };

function rangesOf(origin: PodCidrOrigin): Observable<string> {
  switch (origin.kind) {
    case "node":
      return origin.node.changes$.pipe(newsOf((known) => (known?.spec?.podCIDRs ?? []).join(",")));
    case "configuration":
      return of(origin.podCidr);
  }
}

/** Sends each change until the runtime takes it; a newer one replaces one that is still on its way. */
export const podCidr = (
  origin: PodCidrOrigin,
  { runtime, clock, rng, telemetry }: Pick<KubeletPorts, "runtime" | "clock" | "rng" | "telemetry">,
): Observable<never> =>
  rangesOf(origin).pipe(
    filter((ranges) => ranges !== ""),
    switchMap((ranges) => {
      telemetry.log.info("Updating Pod CIDR", { podCidr: ranges });
      return defer(() => runtime.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr: ranges } } })).pipe(
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
