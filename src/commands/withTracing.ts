/** Tracing of a daemon, as its configuration says. */
import os from "node:os";
import { concat, defer, from, type Observable, switchMap, takeUntil } from "rxjs";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import type { Logger } from "../ports/telemetry.ts";
import type { SpanExport } from "../ports/tracing.ts";
import { systemClock } from "../sources/systemClock.ts";

/**
 * Runs a daemon that ends when `stop$` emits, then exports its last spans, within a bound. Without `tracing` in the
 * configuration nothing of the SDK is loaded. Errors: the daemon's, and an endpoint that is no address.
 */
export function withTracing<T>(
  { config: { tracing }, flags }: Pick<KubeletOptions, "config" | "flags">,
  log: Logger,
  stop$: Observable<unknown>,
  run: (tracing: SpanExport | undefined) => Observable<T>,
): Observable<T> {
  if (tracing === undefined) return run(undefined);
  const hostName = (flags.hostnameOverride.trim() || os.hostname()).toLowerCase();
  const loaded$ = defer(() => from(import("../sinks/tracing/createTracing.ts"))).pipe(takeUntil(stop$));
  return loaded$.pipe(
    switchMap(({ createTracing }) => {
      const { endpoint, samplingRatePerMillion } = tracing;
      const spans = createTracing({ endpoint, samplingRatePerMillion, hostName, log, clock: systemClock });
      return concat(run(spans), spans.close());
    }),
  );
}
