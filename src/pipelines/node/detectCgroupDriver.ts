/**
 * Detects the cgroup driver: asks the runtime once at start, and uses the configured driver if the runtime does not
 * report one. Bounds: three attempts, two seconds apart. Upstream: getCgroupDriverFromCRI in
 * cmd/kubelet/app/server.go.
 */
import { catchError, defer, map, type Observable, of, retry, tap, throwError } from "rxjs";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import type { CgroupDriver as DriverInUse } from "../../core/resources/cgroupDriver.ts";
import { CgroupDriver, type RuntimeConfigResponse } from "../../gen/cri.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";

const TRIES = 3;
const PAUSE_MS = 2_000;
/** The first upstream version that requires a runtime to report its driver; 1.36 announces that by a metric. */
const NEEDED_AS_OF = "1.37.0";

/** Emits the driver once. Errors if the runtime does not answer, or reports an unknown driver. */
export function cgroupDriver(
  configured: DriverInUse,
  { runtime, clock, telemetry: { log, metrics } }: Pick<KubeletPorts, "runtime" | "clock" | "telemetry">,
): Observable<DriverInUse> {
  const reported$ = defer(() => runtime.runtimeConfig({})).pipe(
    retry({
      delay: (thrown: unknown, failures) =>
        toKubeletError(thrown).code === "Unimplemented" || failures === TRIES
          ? throwError(() => thrown)
          : longTimer(clock, PAUSE_MS),
    }),
    map(driverIn),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      if (error.code === "Unimplemented") {
        metrics.gauge("kubelet_cri_losing_support", 1, { version: NEEDED_AS_OF });
        return of(undefined);
      }
      return throwError(() =>
        kubeletError(error.code, `cannot ask the container runtime for its cgroup driver: ${error.message}`, {
          cause: error,
        }),
      );
    }),
  );
  return reported$.pipe(
    tap((reported) => {
      if (reported === undefined) {
        log.info("The runtime does not report its cgroup driver, using the configured one", {
          cgroupDriver: configured,
        });
      } else if (reported === configured) {
        log.info("Using cgroup driver setting received from the CRI runtime", { cgroupDriver: reported });
      } else {
        log.warn("Using cgroup driver setting received from the CRI runtime, not the configured one", {
          cgroupDriver: reported,
          configured,
        });
      }
    }),
    map((reported) => reported ?? configured),
  );
}

/** Returns undefined without settings for Linux: the protocol's default would be systemd. */
function driverIn({ linux }: RuntimeConfigResponse): DriverInUse | undefined {
  if (linux === undefined) return undefined;
  if (linux.cgroupDriver === CgroupDriver.SYSTEMD) return "systemd";
  if (linux.cgroupDriver === CgroupDriver.CGROUPFS) return "cgroupfs";
  throw kubeletError("Unknown", `runtime returned an unknown cgroup driver ${String(linux.cgroupDriver)}`);
}
