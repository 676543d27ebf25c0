/** Lists all pods in the runtime, again and again. Stateless beyond a subscription. Upstream: Relist of pkg/kubelet/pleg. */
import { defer, EMPTY, forkJoin, map, type Observable, tap } from "rxjs";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import type { MonotonicMs } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { ListedParts } from "../../core/runtime/measuredPods.ts";
import { listingOf, type RuntimeListing } from "../../core/runtime/runtimeListing.ts";
import { deadline } from "../../operators/deadline.ts";
import { orElse } from "../../operators/orElse.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { KubeletPorts, RuntimeSignal } from "../../ports/kubeletPorts.ts";

type Ports = Pick<KubeletPorts, "runtime" | "clock" | "telemetry">;
type Config = Pick<KubeletConfig, "relistPeriodMs" | "resyncPeriodMs" | "inspectionDeadlineMs">;

/** The pods in the runtime, and the messages that list them. */
export interface Relist {
  readonly listing: RuntimeListing;
  readonly parts: ListedParts;
}

/** The relists after a signal: at once, then at the pace the signal allows. A failed relist is repeated soon. */
export function relists(signal: RuntimeSignal, ports: Ports, config: Config): Observable<Relist> {
  return defer(() => {
    const paceMs = signal.kind === "streaming" ? config.resyncPeriodMs : config.relistPeriodMs;
    let waitMs = paceMs;
    let lastAt: MonotonicMs | undefined;
    let reported = "";
    /** Logs the ignored IDs once for as long as they stay the same. */
    const reportIgnored = ({ ignored = [] }: RuntimeListing): void => {
      const ids = ignored.join(" ");
      if (ids !== "" && ids !== reported) {
        ports.telemetry.log.warn("Containers or sandboxes are ignored: their labels are no names of a pod", {
          ignored,
        });
      }
      reported = ids;
    };
    const measuredRelist = (): Observable<Relist> =>
      relist(ports, config).pipe(
        tap({
          subscribe: () => {
            waitMs = paceMs;
            const now = ports.clock.monotonicMs();
            if (lastAt !== undefined) {
              ports.telemetry.metrics.observe("kubelet_pleg_relist_interval_seconds", (now - lastAt) / 1000);
            }
            lastAt = now;
          },
          next: ({ listing }) => reportIgnored(listing),
        }),
        orElse(() => {
          waitMs = config.relistPeriodMs;
          return EMPTY;
        }),
      );
    return pollAfter(ports.clock, () => waitMs, measuredRelist);
  });
}

function relist({ runtime, clock, telemetry }: Ports, config: Config): Observable<Relist> {
  return defer(() => {
    const startedAt = clock.monotonicMs();
    return forkJoin([
      runtime.listPodSandbox({ filter: undefined }),
      runtime.listContainers({ filter: undefined }),
    ]).pipe(
      deadline(config.inspectionDeadlineMs, clock, () =>
        kubeletError("DeadlineExceeded", `relist: no answer within ${config.inspectionDeadlineMs} ms`),
      ),
      map(([{ items: sandboxes }, { containers }]) => ({
        listing: listingOf(sandboxes, containers),
        parts: { sandboxes, containers },
      })),
      tap({
        next: () => {
          telemetry.metrics.observe("kubelet_pleg_relist_duration_seconds", (clock.monotonicMs() - startedAt) / 1000);
          telemetry.metrics.gauge("kubelet_pleg_last_seen_seconds", clock.wallTime() / 1000);
        },
        error: (thrown: unknown) => telemetry.log.debug("relists", "Relist failed", { error: toKubeletError(thrown) }),
      }),
    );
  });
}
