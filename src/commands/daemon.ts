/**
 * `rxlet`: the daemon on a real node. It ends when `stop$` emits, which main.ts does at SIGTERM, SIGINT or SIGHUP; its pods
 * keep running.
 */
import { defer, EMPTY, merge, type Observable, switchMap, takeUntil, tap } from "rxjs";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import { shownFlags } from "../cli/shownFlags.ts";
import { valueOf } from "../core/result.ts";
import { watchdogPeriodMs } from "../core/systemd/watchdog.ts";
import { VERBOSITY } from "../core/telemetry/verbosity.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Logger } from "../ports/telemetry.ts";
import type { SpanExport } from "../ports/tracing.ts";
import { createLogger } from "../sinks/logger.ts";
import { type LogOutput, logOutput } from "../sinks/logOutput.ts";
import { createSystemdNotify } from "../sinks/systemdNotify.ts";
import { systemClock } from "../sources/systemClock.ts";
import type { NodeOutput } from "./nodeOutput.ts";
import { configuredServers } from "./nodeServers.ts";
import { runNode } from "./runNode.ts";
import { runService } from "./runService.ts";
import { shownConfiguration } from "./shownConfiguration.ts";
import { KUBERNETES_VERSION } from "./version.ts";
import { whileLocked } from "./whileLocked.ts";
import { withTracing } from "./withTracing.ts";

/** Runs until `stop$` emits. Errors when the node cannot start or continue. */
export function daemon(options: KubeletOptions, stop$: Observable<unknown>): Observable<NodeOutput> {
  const { format, verbosity, vmodule, flushFrequency } = options.config.logging;
  const output = logOutput(options.config.logging);
  const log = createLogger({
    format: format === "json" ? "json" : "text",
    verbosity,
    vmodule,
    wallTime: () => systemClock.wallTime(),
    output,
  });
  for (const warning of options.warnings) log.warn(warning);
  for (const [name, value] of shownFlags(options)) {
    log.verbose("daemon", VERBOSITY.flags, `FLAG: --${name}=${JSON.stringify(value)}`, () => ({}));
  }
  const isOn = (gate: string): boolean => options.featureGates.get(gate) === true;
  log.verbose("daemon", VERBOSITY.runtimeCalls, "Configuration", () => shownConfiguration(options.config, isOn));
  let hasStarted = false;
  const run = (tracing: SpanExport | undefined): Observable<NodeOutput> => {
    const node$ = merge(
      onRuntime(options, log, (used) =>
        runNode({ options: used, log, tracing, version: KUBERNETES_VERSION, ownsMachine: true }),
      ),
      flushes(output, flushFrequency),
    );
    return asService(whileLocked(options.flags, node$, log, systemClock), stop$, options, log);
  };
  return withTracing(options, log, stop$, run).pipe(
    tap({
      next: ({ kind }) => {
        hasStarted ||= kind === "started";
      },
      error: (error: unknown) => log.error(hasStarted ? "Kubelet failed" : "Kubelet failed to start", { error }),
    }),
  );
}

/** Runs the node with its runtime: that of the configuration, or Docker by the dockershim, which only such a node loads. */
function onRuntime<T>(
  options: KubeletOptions,
  log: Logger,
  run: (options: KubeletOptions) => Observable<T>,
): Observable<T> {
  if (options.flags.containerRuntime !== "docker") return run(options);
  return defer(() => import("./onDocker.ts")).pipe(switchMap(({ onDocker }) => onDocker(options, log, run)));
}

/** Flushes the buffer of the log at intervals; completes at once without one. */
const flushes = ({ flush }: LogOutput, periodMs: number): Observable<never> =>
  flush === undefined
    ? EMPTY
    : pollAfter(
        systemClock,
        periodMs,
        () =>
          defer(() => {
            flush();
            return EMPTY;
          }),
        { immediately: false },
      );

/** Runs the node until `stop$` emits, with reports to systemd if that started this process. */
function asService(
  node$: Observable<NodeOutput>,
  stop$: Observable<unknown>,
  { config }: KubeletOptions,
  log: Logger,
): Observable<NodeOutput> {
  return defer(() => {
    const { NOTIFY_SOCKET: socket = "", ...variables } = process.env;
    const periodMs = valueOf(watchdogPeriodMs(variables, process.pid));
    if (socket === "") {
      log.info("Not reporting to systemd: NOTIFY_SOCKET is not set");
      return node$.pipe(takeUntil(stop$));
    }
    log.info("Reporting to systemd", { socket, watchdogPeriodMs: periodMs ?? "off" });
    const manager = createSystemdNotify({ clock: systemClock, socket, pid: process.pid });
    return runService(node$, stop$, {
      manager,
      watchdogPeriodMs: periodMs,
      servers: configuredServers(config),
      clock: systemClock,
      log,
    });
  });
}
