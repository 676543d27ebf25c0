import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../src/core/api.ts";
import { podQosClass } from "../../../src/core/pod/qos.ts";
import { aggregateContainerRequests, podLevelRequests } from "../../../src/core/resources/podResources.ts";
import { type ResourceList, resourceMilli, resourceValue } from "../../../src/core/resources/resourceList.ts";
import { sameValue } from "../../../src/core/sameValue.ts";
import { replayedPods } from "../../../src/sim/simReplay.ts";
import { simulateSeed } from "../../../src/sim/simulateSeed.ts";
import { POD_KINDS } from "../../../src/sim/workload/podKinds.ts";
import { drawWorkload, podManifest, readsPage } from "../../../src/sim/workload/workload.ts";
import { resizedSpec } from "../../../src/sim/workload/workloadSizes.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Seeds with pods from all three sources. */
const seedsWithPage = Array.from({ length: 20 }, (_, seed) => seed).filter(readsPage);

describe("drawWorkload", () => {
  it("draws each pod independently: more pods leave the first pods unchanged", () => {
    const [few, many] = [10, 40].map((pods) => drawWorkload("pods", { pods, durationMs: HOUR_MS }));
    expect(many?.slice(0, 10)).toEqual(few);
  });

  it("has every kind of pod from every source, and ordered changes within the run", () => {
    const plans = seedsWithPage.flatMap((seed) => drawWorkload(seed, { pods: 50, durationMs: HOUR_MS }));
    const drawn = Object.entries(POD_KINDS).flatMap(([kind, { weight }]) => (weight > 0 ? [kind] : []));
    expect(new Set(plans.map(({ kind }) => kind))).toEqual(new Set(drawn));
    expect(new Set(plans.map(({ source }) => source))).toEqual(new Set(["file", "http", "api"]));
    for (const { steps } of plans) {
      const times = steps.map(({ atMs }) => atMs);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect([steps[0]?.kind, (times.at(-1) ?? Infinity) <= HOUR_MS]).toEqual(["add", true]);
    }
  });

  it("resizes only API pods, to all kinds of sizes and back", () => {
    const plans = seedsWithPage.flatMap((seed) => drawWorkload(seed, { pods: 50, durationMs: HOUR_MS }));
    const resizes = plans.flatMap(({ source, steps }) =>
      steps.flatMap((step) => (step.kind === "resize" ? [{ source, size: step.size }] : [])),
    );
    const kindOf = ({ size }: (typeof resizes)[number]) =>
      size === "first" ? "back" : size.cpuMilli > 8000 || size.memoryMib > 32_768 ? "more than there is" : "other";
    expect(new Set(resizes.map(({ source }) => source))).toEqual(new Set(["api"]));
    expect(new Set(resizes.map(kindOf))).toEqual(new Set(["back", "more than there is", "other"]));
  });

  it("sets pod-level resources of some pods: at least the sum of their containers, in the same QoS class", () => {
    const plans = drawWorkload(1, { pods: 100, durationMs: HOUR_MS }).filter(({ sizing }) => sizing?.podLevel === true);
    const resized = plans.flatMap((plan) => {
      const first = podManifest(plan, 0).spec as PodSpec | undefined;
      if (first === undefined || plan.sizing === undefined) return [];
      const { sizing } = plan;
      let spec = first;
      return plan.steps.flatMap((step) => {
        if (step.kind !== "resize") return [];
        const before = spec;
        spec = resizedSpec(spec, first, step, sizing);
        const units = (list: ResourceList) => [resourceMilli(list, "cpu"), resourceValue(list, "memory")];
        const [own, sum] = [podLevelRequests({ spec }), aggregateContainerRequests({ spec })].map(units);
        expect(own?.every((amount, index) => amount >= (sum?.[index] ?? 0n))).toBe(true);
        expect(podQosClass({ spec })).toBe(podQosClass({ spec: first }));
        return [sameValue(before.containers, spec.containers) && !sameValue(before.resources, spec.resources)];
      });
    });
    expect([plans.length > 10, new Set(resized)]).toEqual([true, new Set([true, false])]);
  });

  it("has no pods on a manifest URL that the node does not read", () => {
    const seed = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].find((each) => !readsPage(each)) ?? "";
    const sources = drawWorkload(seed, { pods: 50, durationMs: HOUR_MS }).map(({ source }) => source);
    expect(new Set(sources)).toEqual(new Set(["file", "api"]));
  });

  it("has all pods from the start and no changes when it is calm", () => {
    const plans = drawWorkload("calm", { pods: 20, durationMs: HOUR_MS, isCalm: true });
    expect(plans.map(({ steps }) => steps)).toEqual(plans.map(() => [{ atMs: 0, kind: "add", revision: 0 }]));
  });
});

describe("a node without changes and faults", () => {
  it("reaches the desired state with pods of all sources, and is empty after their removal", () => {
    const [seed = ""] = seedsWithPage;
    const statuses = new Map<string, string>();
    const { outcome, violations, faults } = simulateSeed({
      seed,
      pods: 20,
      durationMs: 10 * MINUTE_MS,
      faults: "none",
      watch: (observation) => {
        if (observation.kind === "wanted" && observation.pods.length > 0) statuses.set(observation.source, "wanted");
      },
    });
    expect([outcome, violations, faults, [...statuses.keys()].sort()]).toEqual(["ok", [], {}, ["api", "file", "http"]]);
  });
});

describe("a steady workload", () => {
  it("gives every node the same healthy API pods and a runtime with events", () => {
    const events = new Map<number, number>();
    const lists = new Map<number, number>();
    const count = (of: Map<number, number>, node: number) => void of.set(node, (of.get(node) ?? 0) + 1);
    const { outcome, violations, replay } = simulateSeed({
      seed: 1,
      nodes: 10,
      pods: 3,
      durationMs: 10 * MINUTE_MS,
      workload: "steady",
      faults: "none",
      watch: (observation, node) => {
        if (observation.atMs > 10 * MINUTE_MS) return;
        if (observation.kind === "event" && observation.event.reason === "Started") count(events, node);
        if (observation.kind === "call" && observation.rpc === "ListPodSandbox") count(lists, node);
      },
    });
    const kinds = replayedPods(replay).map(({ kind, source }) => `${kind} from ${source}`);
    expect([outcome, violations, kinds]).toEqual(["ok", [], Array.from({ length: 3 }, () => "steady from api")]);
    expect([...events.values()]).toEqual(Array.from({ length: 10 }, () => 3));
    // At most 20 requests are for the start of the kubelet and of its three pods. Relisting sends two a minute, and
    // garbage collection of containers one.
    expect(Math.max(...lists.values())).toBeLessThanOrEqual(20 + 10 * (2 + 1));
  });
});
