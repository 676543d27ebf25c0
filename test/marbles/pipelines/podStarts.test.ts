import { expect, it } from "vitest";
import { monotonicMs } from "../../../src/core/ids.ts";
import { createPodStarts } from "../../../src/pipelines/podStarts.ts";
import { marbles } from "../../support/marbles.ts";
import { podOf } from "../../support/pods.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

it(
  "reports no time of its own for a pod that pulled for longer than it took to start",
  marbles(({ clock, flush }) => {
    const telemetry = recordingTelemetry();
    const starts = createPodStarts({ clock, telemetry });
    clock.scheduler.schedule(() => {
      starts.observe({ startedAt: monotonicMs(0), pullMs: 6000 }, podOf(), { phase: "Pending" }, { phase: "Running" });
    }, 5000);
    flush();
    expect(telemetry.samples.get("kubelet_first_network_pod_start_sli_duration_seconds")).toBe(0);
  }),
);

it(
  "reports the start of the first pod with a network once, without its image pulls",
  marbles(({ clock, flush }) => {
    const telemetry = recordingTelemetry();
    const starts = createPodStarts({ clock, telemetry });
    const [pending, running] = [{ phase: "Pending" }, { phase: "Running" }];
    const onHost = podOf({ spec: { containers: [], hostNetwork: true } });
    const first = (): unknown => telemetry.samples.get("kubelet_first_network_pod_start_sli_duration_seconds");
    clock.scheduler.schedule(() => {
      starts.observe({ startedAt: monotonicMs(0), pullMs: 0 }, podOf(), undefined, running);
      starts.observe({ startedAt: monotonicMs(0), pullMs: 0 }, onHost, pending, running);
      expect(first()).toBeUndefined();
      starts.observe({ startedAt: monotonicMs(1000), pullMs: 1500 }, podOf(), pending, running);
      expect(first()).toBe(2.5);
      const { observations } = telemetry;
      expect([
        observations.get("kubelet_pod_start_duration_seconds")?.at(-1),
        observations.get("kubelet_pod_start_total_duration_seconds")?.at(-1),
        observations.get("kubelet_pod_start_sli_duration_seconds")?.at(-1),
      ]).toEqual([4, 4, 2.5]);
      starts.observe({ startedAt: monotonicMs(0), pullMs: 0 }, podOf(), pending, running);
      expect(first()).toBe(2.5);
    }, 5000);
    flush();
    expect(first()).toBe(2.5);
  }),
);
