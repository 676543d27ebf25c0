/** A whole kubelet with the gate CSIVolumeHealth: events, statistics and metrics of an abnormal volume, and none without the gate. */
import { defer, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { NodeServiceCapability_RPC_Type as Rpc } from "../../src/gen/csi.ts";
import type { CsiClient } from "../../src/ports/csiDrivers.ts";
import { capabilitiesOf, csiSimNode } from "../support/csiSimNode.ts";

const MINUTE_MS = 60_000;
const VOLUME = { namespace: "default", persistentvolumeclaim: "c" };

/** A node with a pod on a claim, whose driver answers with the condition `state.abnormal`. */
function watched(watchesVolumeHealth: boolean, ...more: readonly number[]) {
  const state = { abnormal: false, asked: 0 };
  const nodeGetVolumeStats = (() =>
    defer(() => {
      state.asked += 1;
      const volumeCondition = { abnormal: state.abnormal, message: state.abnormal ? "the disk is ill" : "well" };
      return of({ usage: [{ unit: 1, total: 100n, used: 40n, available: 60n }], volumeCondition });
    })) as unknown as CsiClient["nodeGetVolumeStats"];
  const made = csiSimNode({
    config: { watchesVolumeHealth, diskStatsPeriodMs: MINUTE_MS },
    answers: {
      nodeGetVolumeStats,
      nodeGetCapabilities: capabilitiesOf(Rpc.STAGE_UNSTAGE_VOLUME, Rpc.GET_VOLUME_STATS, ...more),
    },
  });
  made.claim("c", "ReadWriteOnce");
  made.pod("a", "c");
  made.node.runFor(3 * MINUTE_MS);
  /** The health of the volume in the statistics of its pod and as a metric. */
  const health = () => {
    const { kubelet, telemetry } = made.node;
    let stats: unknown;
    const answers = [
      kubelet?.stats.summary().subscribe(({ pods }) => (stats = pods[0]?.volume?.[0]?.volumeHealthStats)),
      kubelet?.stats.gaugeDisks().subscribe(),
    ];
    made.node.runFor(10_000);
    for (const each of answers) each?.unsubscribe();
    return [stats, telemetry.value("kubelet_volume_stats_health_status_abnormal", VOLUME)];
  };
  const abnormal = () => made.events.filter((event) => event.includes("VolumeCondition"));
  return { ...made, state, abnormal, health };
}

describe("the gate CSIVolumeHealth", () => {
  it("makes an event of the pod for each answer that its volume is abnormal", () => {
    const { node, state, abnormal, health } = watched(true, Rpc.VOLUME_CONDITION);
    expect([node.running(), abnormal(), state.asked > 0]).toEqual([["default/a/main#0"], [], true]);
    state.abnormal = true;
    node.runFor(3 * MINUTE_MS);
    const told = abnormal();
    expect(new Set(told)).toEqual(new Set(["a VolumeConditionAbnormal: Volume data: the disk is ill"]));
    expect(told.length).toBeGreaterThanOrEqual(2);
    expect(health()).toEqual([{ abnormal: true }, 1]);
    state.abnormal = false;
    node.runFor(2 * MINUTE_MS);
    const after = abnormal().length;
    node.runFor(5 * MINUTE_MS);
    expect(health()).toEqual([{ abnormal: false }, 0]);
    expect([abnormal().length, node.running(), node.violations]).toEqual([after, ["default/a/main#0"], []]);
  });

  it.each([
    ["without the gate", false, [Rpc.VOLUME_CONDITION]],
    ["of a driver that reports no conditions", true, []],
  ])("tells nothing %s", (_, watches, capabilities) => {
    const { node, state, abnormal, health } = watched(watches, ...capabilities);
    state.abnormal = true;
    node.runFor(5 * MINUTE_MS);
    expect([node.running(), abnormal(), health()]).toEqual([["default/a/main#0"], [], [undefined, 0]]);
  });
});
