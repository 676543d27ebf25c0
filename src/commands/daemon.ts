/** `rxlet`: the daemon on a real node. main.ts unsubscribes it at SIGTERM, SIGINT or SIGHUP; its pods keep running. */
import { type Observable, tap } from "rxjs";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import { shownFlags } from "../cli/shownFlags.ts";
import { VERBOSITY } from "../core/telemetry/verbosity.ts";
import { createLogger } from "../sinks/logger.ts";
import { systemClock } from "../sources/systemClock.ts";
import type { NodeOutput } from "./nodeOutput.ts";
import { runNode } from "./runNode.ts";
import { shownConfiguration } from "./shownConfiguration.ts";
import { KUBERNETES_VERSION } from "./version.ts";

/** Runs until unsubscribed. Errors when the node cannot start or continue. */
export function daemon(options: KubeletOptions): Observable<NodeOutput> {
  const { format, verbosity } = options.config.logging;
  const log = createLogger({
    format: format === "json" ? "json" : "text",
    verbosity,
    wallTime: () => systemClock.wallTime(),
  });
  for (const warning of options.warnings) log.warn(warning);
  for (const [name, value] of shownFlags(options)) {
    log.verbose(VERBOSITY.flags, `FLAG: --${name}=${JSON.stringify(value)}`, () => ({}));
  }
  const isOn = (gate: string): boolean => options.featureGates.get(gate) === true;
  log.verbose(VERBOSITY.runtimeCalls, "Configuration", () => shownConfiguration(options.config, isOn));
  let hasStarted = false;
  return runNode({ options, log, version: KUBERNETES_VERSION, ownsMachine: true }).pipe(
    tap({
      next: ({ kind }) => {
        hasStarted ||= kind === "started";
      },
      error: (error: unknown) => log.error(hasStarted ? "Kubelet failed" : "Kubelet failed to start", { error }),
    }),
  );
}
