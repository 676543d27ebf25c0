import { defer, delay, of } from "rxjs";
import { describe, expect, it } from "vitest";
import type { CsiCapability, CsiDriverFacts } from "../../../../src/core/csi/csiDriverFacts.ts";
import { CSI_PLUGIN } from "../../../../src/core/csi/csiLayout.ts";
import type { CsiLayout } from "../../../../src/core/csi/csiVolumeLayout.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { emptyRegistry, type PodRecord } from "../../../../src/core/pod/podRegistry.ts";
import { podVolumesOf } from "../../../../src/core/volume/podVolumes.ts";
import { type VolumeLayout, volumeKey } from "../../../../src/core/volume/volumeLayout.ts";
import { createCsiStats } from "../../../../src/pipelines/stats/csiStats.ts";
import { volumeHealth } from "../../../../src/pipelines/stats/volumeHealth.ts";
import type { CsiDriverPort } from "../../../../src/ports/csiDrivers.ts";
import { createNodeState } from "../../../../src/state/nodeState.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const PERIOD_MS = 60_000;
const BOTH = ["GET_VOLUME_STATS", "VOLUME_CONDITION"] as const;

/** An answer of the driver after some time: a text says that the volume is abnormal. */
interface Answer {
  readonly ms: number;
  readonly ill: string | undefined;
}

/** Pod `a` with the mounted CSI volume `data`. The last answer of the driver is repeated. */
function watching({ clock }: Marbles, answers: readonly Answer[], capabilities: readonly CsiCapability[] = BOTH) {
  const uid = podUid("a");
  const csi = { driver: "d", handle: "h", target: "/mnt" } as unknown as CsiLayout;
  const layout = { name: "data", plugin: CSI_PLUGIN, path: "/mnt", csi } as unknown as VolumeLayout;
  const actual = { name: "data", plugin: CSI_PLUGIN, path: "/mnt", isOwnDirectory: true, inputs: [] };
  const state = createNodeState();
  const pod = podOf({ uid: "a", spec: { containers: [], volumes: [{ name: "data" }] } });
  state.registry.set({ ...emptyRegistry, records: new Map([[uid, { pod } as unknown as PodRecord]]) });
  state.volumes.set(
    uid,
    podVolumesOf({
      wishes: new Map([["data", { kind: "resolved", layout }]]),
      actual: new Map([[volumeKey(layout), { ...actual, condition: "mounted" }]]),
    }),
  );
  const facts = { name: "d", endpoint: "/s", capabilities: new Set(capabilities) } as unknown as CsiDriverFacts;
  state.csiDrivers.set(new Map([["d", facts]]));
  let calls = 0;
  const nodeGetVolumeStats = () =>
    defer(() => {
      const { ms = 0, ill } = answers[Math.min(calls, answers.length - 1)] ?? {};
      calls += 1;
      const volumeCondition = { abnormal: ill !== undefined, message: ill ?? "" };
      const usage = [{ unit: 1, total: 1n, used: 1n, available: 1n }];
      return of({ usage, volumeCondition }).pipe(delay(ms, clock.scheduler));
    });
  const csiDrivers = { at: () => ({ nodeGetVolumeStats }) } as unknown as CsiDriverPort;
  const ports = { csiDrivers, clock, telemetry: recordingTelemetry() };
  const csiStats = createCsiStats(ports, state.csiDrivers, { periodMs: PERIOD_MS, includesHealth: true });
  return { csiStats, events$: volumeHealth(state, { clock, csiStats }, PERIOD_MS), calls: () => calls };
}

const event = (text: string) => ({
  type: "Warning",
  reason: "VolumeConditionAbnormal",
  message: `Volume data: ${text}`,
  object: expect.objectContaining({ kind: "Pod", uid: "a" }) as unknown,
});

describe("health of CSI volumes", () => {
  it(
    "is an event in each period in which the driver reports an abnormal volume",
    marbles((m) => {
      const unsub = "   250s !";
      const expected = "60s a 119999ms b";
      const nothing = "";

      const answers = ["bad disk", undefined, "worse", undefined].map((ill) => ({ ms: 0, ill }));
      const { csiStats, events$, calls } = watching(m, answers);
      m.expectObservable(csiStats.run$, unsub).toBe(nothing);
      m.expectObservable(events$, unsub).toBe(expected, { a: event("bad disk"), b: event("worse") });
      m.flush();
      expect(calls()).toBe(4);
    }),
  );

  it(
    "is an event once for an answer, however long the next call hangs",
    marbles((m) => {
      const unsub = "   400s !";
      const expected = "60s a";
      const nothing = "";

      const hanging = { ms: 1_000_000, ill: undefined };
      const { csiStats, events$, calls } = watching(m, [{ ms: 0, ill: "bad disk" }, hanging]);
      m.expectObservable(csiStats.run$, unsub).toBe(nothing);
      m.expectObservable(events$, unsub).toBe(expected, { a: event("bad disk") });
      m.flush();
      expect(calls()).toBe(2);
    }),
  );

  it.each([{ capabilities: ["VOLUME_CONDITION"] as const }, { capabilities: ["GET_VOLUME_STATS"] as const }])(
    "is not asked of a driver with $capabilities alone",
    ({ capabilities }) =>
      marbles((m) => {
        const unsub = "   250s !";
        const nothing = "";

        const { csiStats, events$, calls } = watching(m, [{ ms: 0, ill: "bad disk" }], capabilities);
        m.expectObservable(csiStats.run$, unsub).toBe(nothing);
        m.expectObservable(events$, unsub).toBe(nothing);
        m.flush();
        expect(calls()).toBe(0);
      })(),
  );
});
