import { type Observable, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { CgroupDriver, RuntimeConfigResponse } from "../../../../src/gen/cri.ts";
import { cgroupDriver } from "../../../../src/pipelines/node/detectCgroupDriver.ts";
import type { RuntimeService } from "../../../../src/ports/cri.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const reported = (driver: CgroupDriver): RuntimeConfigResponse =>
  RuntimeConfigResponse.create({ linux: { cgroupDriver: driver } });

/** A runtime that gives one answer after the other. */
function node({ clock }: Marbles, ...answers: readonly Observable<RuntimeConfigResponse>[]) {
  const left = [...answers];
  const runtimeConfig = () => left.shift() ?? throwError(() => new Error("asked too often"));
  const telemetry = recordingTelemetry();
  return { runtime: { runtimeConfig } as unknown as RuntimeService, clock, telemetry };
}

const AWAY = kubeletError("Unavailable", "connection refused");
const UNIMPLEMENTED = kubeletError("Unimplemented", "unknown method RuntimeConfig");

describe("cgroupDriver", () => {
  it(
    "is the runtime's, with a warning when the configured one differs",
    marbles((m) => {
      const ports = node(m, m.cold("--(a|)", { a: reported(CgroupDriver.SYSTEMD) }));
      m.expectObservable(cgroupDriver("cgroupfs", ports)).toBe("--(d|)", { d: "systemd" });
      m.flush();
      expect(ports.telemetry.lines).toEqual([
        {
          level: "warn",
          message: "Using cgroup driver setting received from the CRI runtime, not the configured one",
          fields: { cgroupDriver: "systemd", configured: "cgroupfs" },
        },
      ]);
    }),
  );

  it(
    "is logged once when both agree",
    marbles((m) => {
      const ports = node(m, m.cold("(a|)", { a: reported(CgroupDriver.CGROUPFS) }));
      m.expectObservable(cgroupDriver("cgroupfs", ports)).toBe("(d|)", { d: "cgroupfs" });
      m.flush();
      expect(ports.telemetry.lines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
        "info: Using cgroup driver setting received from the CRI runtime",
      ]);
    }),
  );

  it(
    "is the configured one when the runtime lacks the call, or has no settings for Linux",
    marbles((m) => {
      const old = node(m, m.cold("--#", {}, UNIMPLEMENTED));
      const silent = node(m, m.cold("--(a|)", { a: RuntimeConfigResponse.create({}) }));
      m.expectObservable(cgroupDriver("systemd", old)).toBe("--(d|)", { d: "systemd" });
      m.expectObservable(cgroupDriver("systemd", silent)).toBe("--(d|)", { d: "systemd" });
      m.flush();
      expect(
        [...old.telemetry.lines, ...silent.telemetry.lines].map(({ level, message }) => `${level}: ${message}`),
      ).toEqual(
        Array.from(
          { length: 2 },
          () => "info: The runtime does not report its cgroup driver, using the configured one",
        ),
      );
      const losing = (node: typeof old) => node.telemetry.samples.get('kubelet_cri_losing_support{version="1.37.0"}');
      expect([losing(old), losing(silent)]).toEqual([1, undefined]);
    }),
  );

  it(
    "is requested three times, two seconds apart",
    marbles((m) => {
      const away = m.cold<RuntimeConfigResponse>("-#", {}, AWAY);
      const late = node(m, away, away, m.cold("-(a|)", { a: reported(CgroupDriver.CGROUPFS) }));
      m.expectObservable(cgroupDriver("cgroupfs", late)).toBe("4003ms (d|)", { d: "cgroupfs" });
      const never = node(m, away, away, away);
      m.expectObservable(cgroupDriver("cgroupfs", never)).toBe(
        "4003ms #",
        {},
        kubeletError("Unavailable", "cannot ask the container runtime for its cgroup driver: connection refused", {
          cause: AWAY,
        }),
      );
    }),
  );

  it(
    "is rejected when it is unknown",
    marbles((m) => {
      const ports = node(m, m.cold("-(a|)", { a: reported(7 as CgroupDriver) }));
      const cause = kubeletError("Unknown", "runtime returned an unknown cgroup driver 7");
      m.expectObservable(cgroupDriver("cgroupfs", ports)).toBe(
        "-#",
        {},
        kubeletError("Unknown", `cannot ask the container runtime for its cgroup driver: ${cause.message}`, { cause }),
      );
    }),
  );
});
