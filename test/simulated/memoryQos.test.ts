/** Protected and throttled memory on a simulated node: what containers, pods and the cgroups around them get. */
import { expect, it } from "vitest";
import { podNode } from "../support/podNode.ts";
import { containerOf, podOf } from "../support/pods.ts";

const MI = 2 ** 20;
const sized = (uid: string, requests: object, limits: object) =>
  podOf({ name: uid, uid, spec: { containers: [containerOf({ resources: { requests, limits } as never })] } });

it("the gate MemoryQoS with TieredReservation: every cgroup has what its pods request, and gives it back", () => {
  const memoryQos = { throttlingFactor: 0.9, protectsRequests: true, pageBytes: 4096, nodeBytes: 2 ** 33 };
  const guaranteed = sized("g", { cpu: "100m", memory: "50Mi" }, { cpu: "100m", memory: "50Mi" });
  const burstable = sized("b", { memory: "10Mi" }, { memory: "20Mi" });
  const { node, check } = podNode({ config: { memoryQos }, pods: [guaranteed, burstable] });
  const held = (name: string) => {
    const { memoryMinBytes, memoryLowBytes } = node.cgroups.all().get(name) ?? {};
    return [memoryMinBytes, memoryLowBytes].map((bytes) => (bytes === undefined ? undefined : bytes / MI));
  };
  expect(node.runUntil(() => node.running().length === 2, 60_000)).toBe(true);
  node.runFor(1_000);
  expect([
    held("/kubepods"),
    held("/kubepods/burstable"),
    held("/kubepods/podg"),
    held("/kubepods/burstable/podb"),
  ]).toEqual([
    [60, undefined],
    [undefined, 10],
    [50, 0],
    [0, 10],
  ]);
  expect(node.runtime.containers().map(({ config }) => config.linux?.resources?.unified["memory.high"])).toEqual([
    undefined,
    String(19 * MI),
  ]);
  node.dropPod("b");
  node.runFor(60_000);
  expect([held("/kubepods"), held("/kubepods/burstable")]).toEqual([
    [50, undefined],
    [undefined, 0],
  ]);
  check();
});
