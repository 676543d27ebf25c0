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
      const answer = "  --(a|)";
      const expected = "--(d|)";

      const ports = node(m, m.cold(answer, { a: reported(CgroupDriver.SYSTEMD) }));
      m.expectObservable(cgroupDriver("cgroupfs", ports)).toBe(expected, { d: "systemd" });
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
      const answer = "  (a|)";
      const expected = "(d|)";

      const ports = node(m, m.cold(answer, { a: reported(CgroupDriver.CGROUPFS) }));
      m.expectObservable(cgroupDriver("cgroupfs", ports)).toBe(expected, { d: "cgroupfs" });
      m.flush();
      expect(ports.telemetry.lines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
        "info: Using cgroup driver setting received from the CRI runtime",
      ]);
    }),
  );

  const UNREPORTED = "info: The runtime does not report its cgroup driver, using the configured one";
  const linesOf = ({ telemetry }: ReturnType<typeof node>) =>
    telemetry.lines.map(({ level, message }) => `${level}: ${message}`);
  const losing = ({ telemetry }: ReturnType<typeof node>) =>
    telemetry.samples.get('kubelet_cri_losing_support{version="1.37.0"}');

  it(
    "is the configured one when the runtime lacks the call",
    marbles((m) => {
      const answer = "  --#";
      const expected = "--(d|)";

      const ports = node(m, m.cold(answer, {}, UNIMPLEMENTED));
      m.expectObservable(cgroupDriver("systemd", ports)).toBe(expected, { d: "systemd" });
      m.flush();
      expect([linesOf(ports), losing(ports)]).toEqual([[UNREPORTED], 1]);
    }),
  );

  it(
    "is the configured one when the runtime has no settings for Linux",
    marbles((m) => {
      const answer = "  --(a|)";
      const expected = "--(d|)";

      const ports = node(m, m.cold(answer, { a: RuntimeConfigResponse.create({}) }));
      m.expectObservable(cgroupDriver("systemd", ports)).toBe(expected, { d: "systemd" });
      m.flush();
      expect([linesOf(ports), losing(ports)]).toEqual([[UNREPORTED], undefined]);
    }),
  );

  it(
    "is requested again after two seconds",
    marbles((m) => {
      const failure = " -#";
      const answer = "  -(a|)";
      const expected = "4003ms (d|)";

      const failure$ = m.cold<RuntimeConfigResponse>(failure, {}, AWAY);
      const ports = node(m, failure$, failure$, m.cold(answer, { a: reported(CgroupDriver.CGROUPFS) }));
      m.expectObservable(cgroupDriver("cgroupfs", ports)).toBe(expected, { d: "cgroupfs" });
    }),
  );

  it(
    "fails after three requests",
    marbles((m) => {
      const failure = " -#";
      const expected = "4003ms #";

      const failure$ = m.cold<RuntimeConfigResponse>(failure, {}, AWAY);
      const message = "cannot ask the container runtime for its cgroup driver: connection refused";
      const error = kubeletError("Unavailable", message, { cause: AWAY });
      const ports = node(m, failure$, failure$, failure$);
      m.expectObservable(cgroupDriver("cgroupfs", ports)).toBe(expected, {}, error);
    }),
  );

  it(
    "is rejected when it is unknown",
    marbles((m) => {
      const answer = "  -(a|)";
      const expected = "-#";

      const ports = node(m, m.cold(answer, { a: reported(7 as CgroupDriver) }));
      const cause = kubeletError("Unknown", "runtime returned an unknown cgroup driver 7");
      m.expectObservable(cgroupDriver("cgroupfs", ports)).toBe(
        expected,
        {},
        kubeletError("Unknown", `cannot ask the container runtime for its cgroup driver: ${cause.message}`, { cause }),
      );
    }),
  );
});
