/**
 * Sends the runtime the address ranges of this node's pods: those of the Node in a cluster, `podCIDR` of the
 * configuration otherwise. Bound: one request at a time. Upstream: updatePodCIDR of pkg/kubelet/kubelet_network.go.
 */
import {
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  ignoreElements,
  map,
  type Observable,
  of,
  retry,
  switchMap,
} from "rxjs";
import type { Node } from "../../core/api.ts";
import { toKubeletError } from "../../core/errors.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { type BackoffCurve, backoffDelay } from "../../operators/backoffDelay.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ReadonlyCell } from "../../state/cell.ts";

type Ports = Pick<KubeletPorts, "runtime" | "clock" | "rng" | "telemetry" | "cluster">;

const BACKOFF: BackoffCurve = { initialMs: 1_000, maxMs: 10_000 };

/** Sends each change until the runtime accepts it; a newer change replaces a pending one. */
export function podCidr(
  { runtime, clock, rng, telemetry, cluster }: Ports,
  config: Pick<KubeletConfig, "podCidr">,
  node: ReadonlyCell<Node | undefined>,
): Observable<never> {
  const assigned$ = node.changes$.pipe(
    map((known) => (known?.spec?.podCIDRs ?? []).join(",")),
    distinctUntilChanged(),
  );
  return (cluster === undefined ? of(config.podCidr) : assigned$).pipe(
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
}
