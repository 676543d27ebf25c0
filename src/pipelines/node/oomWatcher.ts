/**
 * Reports the kills of the kernel's OOM killer when the machine itself was out of memory. A kill at the limit of a pod
 * or container is no event of the node: the runtime reports it as `OOMKilled`, and the kernel counts it for
 * `container_oom_events_total`. Keeps one open report. Upstream: pkg/kubelet/oom/oom_watcher_linux.go.
 */
import { catchError, EMPTY, filter, map, type Observable, scan, tap } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import type { KubeletEvent } from "../../core/events.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import {
  isSystemOom,
  nextOomReport,
  noOomReport,
  type OomInstance,
  systemOomEvent,
} from "../../core/oom/oomInstance.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";

/**
 * Emits an event per kill while subscribed. Never errors.
 *
 * Differs from upstream: a node without a readable kernel log starts, without these events.
 */
export function oomWatcher(
  { kernelLog, telemetry }: Pick<KubeletPorts, "kernelLog" | "telemetry">,
  { nodeName }: Pick<KubeletConfig, "nodeName">,
): Observable<KubeletEvent> {
  if (kernelLog === undefined) return EMPTY;
  return kernelLog.pipe(
    scan(nextOomReport, noOomReport),
    map(({ found }) => found),
    filter((found): found is OomInstance => found !== undefined && isSystemOom(found)),
    tap((found) => telemetry.log.warn("System OOM encountered", { ...found })),
    map((found) => systemOomEvent(nodeName, found)),
    catchError((thrown: unknown) => {
      telemetry.log.warn("Cannot watch for system OOMs", { error: toKubeletError(thrown) });
      return EMPTY;
    }),
  );
}
