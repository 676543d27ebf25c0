/** Reads the settings of systemd's watchdog from the environment of a service: sd_watchdog_enabled(3). */
import { type KubeletError, kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";

/** The variables that systemd sets for a service with `WatchdogSec=`. */
export interface WatchdogVariables {
  readonly WATCHDOG_USEC?: string | undefined;
  readonly WATCHDOG_PID?: string | undefined;
}

const INTEGER = /^[+-]?\d{1,18}$/;
const MICROS_PER_MS = 1_000;

/**
 * Returns the period at which the process with this id reports to the watchdog, half of the time after which systemd
 * ends it; undefined when systemd does not watch this process. Errors: InvalidArgument for a value that systemd never
 * sets; as upstream, such a kubelet does not start. Upstream: SdWatchdogEnabled of go-systemd.
 */
export function watchdogPeriodMs(variables: WatchdogVariables, pid: number): Result<number | undefined> {
  const { WATCHDOG_USEC: micros = "", WATCHDOG_PID: watched = "" } = variables;
  if (micros === "") return ok(undefined);
  if (!INTEGER.test(micros) || Number(micros) <= 0) return err(fault("WATCHDOG_USEC", micros, "a positive number"));
  if (watched === "") return ok(periodMs(micros));
  if (!INTEGER.test(watched)) return err(fault("WATCHDOG_PID", watched, "a process id"));
  return ok(Number(watched) === pid ? periodMs(micros) : undefined);
}

/** Halves the time; at least a millisecond, so that a tiny value does not occupy the event loop. */
const periodMs = (micros: string): number => Math.max(1, Math.floor(Number(micros) / 2 / MICROS_PER_MS));

const fault = (name: string, value: string, wanted: string): KubeletError =>
  kubeletError("InvalidArgument", `cannot use the systemd watchdog: ${name} ${JSON.stringify(value)} is not ${wanted}`);
