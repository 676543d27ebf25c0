/** `rxlet`: the daemon on a real node. It ends at a signal; its pods keep running. */
import { defer, EMPTY, from, merge, type Observable, switchMap, takeUntil, tap } from "rxjs";
import type { Invocation } from "../cli/invocation.ts";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import { shownFlags } from "../cli/shownFlags.ts";
import { kubeletError } from "../core/errors.ts";
import { valueOf } from "../core/result.ts";
import { watchdogPeriodMs } from "../core/systemd/watchdog.ts";
import { VERBOSITY } from "../core/telemetry/verbosity.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Logger } from "../ports/telemetry.ts";
import type { SpanExport } from "../ports/tracing.ts";
import { createLogger } from "../sinks/logger.ts";
import { type LogOutput, logOutput } from "../sinks/logOutput.ts";
import { createSystemdNotify } from "../sinks/systemdNotify.ts";
import { type PassedLocalSocket, passedLocalSocket } from "../sources/passedLocalSocket.ts";
import { monotonicMicros, systemClock } from "../sources/systemClock.ts";
import { configurationFaults } from "./configurationFaults.ts";
import type { NodeOutput } from "./nodeOutput.ts";
import { configuredServers } from "./nodeServers.ts";
import type { Restart } from "./reloadService.ts";
import { runNode } from "./runNode.ts";
import { runService } from "./runService.ts";
import { shownConfiguration } from "./shownConfiguration.ts";
import { KUBERNETES_VERSION } from "./version.ts";
import { whileLocked } from "./whileLocked.ts";
import { withTracing } from "./withTracing.ts";

/** Influences on a running daemon. */
export interface DaemonControls {
  /** SIGTERM or SIGINT. */
  readonly stop$: Observable<unknown>;
  /** SIGHUP: a service reads its configuration again, and a daemon of a terminal ends. */
  readonly hangup$: Observable<unknown>;
  /** Reads the command line and its files again. */
  readonly load: () => Promise<Invocation>;
}

/** Runs until it is stopped or restarted. Errors when the node cannot start or continue. */
export function daemon(options: KubeletOptions, controls: DaemonControls): Observable<NodeOutput | Restart> {
  const { stop$ } = controls;
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
  const run = (tracing: SpanExport | undefined): Observable<NodeOutput | Restart> =>
    defer(() => from(passedLocalSocket(process.env, process.pid, log))).pipe(
      tap((passedSocket) => refuseOtherSocket(options.flags, passedSocket)),
      switchMap((passedSocket) => {
        const setup = { log, tracing, passedSocket, version: KUBERNETES_VERSION, ownsMachine: true };
        const node$ = merge(
          onRuntime(options, log, (used) => runNode({ ...setup, options: used })),
          flushes(output, flushFrequency),
        );
        const successor = passedSocket === undefined ? "inPlace" : "manager";
        return asService(whileLocked(options.flags, node$, log, systemClock), { ...controls, successor }, options, log);
      }),
    );
  return withTracing(options, log, stop$, run).pipe(
    tap({
      next: ({ kind }) => {
        hasStarted ||= kind === "started";
      },
      error: (error: unknown) => log.error(hasStarted ? "Kubelet failed" : "Kubelet failed to start", { error }),
    }),
  );
}

/** Refuses two places for the local commands: one of systemd and one of the flag. */
function refuseOtherSocket({ localSocket }: KubeletOptions["flags"], passed: PassedLocalSocket | undefined): void {
  if (passed === undefined || localSocket === "" || localSocket === passed.path) return;
  const why = `systemd passes the socket ${passed.path}, and the flag says ${JSON.stringify(localSocket)}`;
  throw kubeletError("InvalidArgument", `--local-socket: ${why}`);
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

/** Runs the node until it is stopped, with reports to systemd if that started this process. */
function asService(
  node$: Observable<NodeOutput>,
  { stop$, hangup$, load, successor }: DaemonControls & Pick<Restart, "successor">,
  { config }: KubeletOptions,
  log: Logger,
): Observable<NodeOutput | Restart> {
  return defer(() => {
    const { NOTIFY_SOCKET: socket = "", ...variables } = process.env;
    const periodMs = valueOf(watchdogPeriodMs(variables, process.pid));
    if (socket === "") {
      log.info("Not reporting to systemd: NOTIFY_SOCKET is not set");
      return node$.pipe(takeUntil(merge(stop$, hangup$)));
    }
    log.info("Reporting to systemd", { socket, watchdogPeriodMs: periodMs ?? "off" });
    const manager = createSystemdNotify({ clock: systemClock, socket, pid: process.pid });
    return runService(node$, stop$, {
      manager,
      watchdogPeriodMs: periodMs,
      servers: configuredServers(config),
      reload: { hangup$, successor, faults: () => configurationFaults(load), monotonicMicros },
      clock: systemClock,
      log,
    });
  });
}
