import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { podsToPreempt } from "../../../../src/core/admission/preemption.ts";
import type { InsufficientResource } from "../../../../src/core/admission/resourceFit.ts";
import { container, pod } from "../samples.ts";

const CRITICAL = 2_000_000_000;

/** A Burstable pod with these requests; Guaranteed if they are its limits too, BestEffort without any. */
const podOf = (
  name: string,
  requests: Record<string, string>,
  more: { guaranteed?: boolean; priority?: number } = {},
) =>
  pod(
    {
      containers: [container("web", { resources: { requests, ...(more.guaranteed && { limits: requests }) } })],
      ...(more.priority !== undefined && { priority: more.priority }),
    },
    { metadata: { name, namespace: "default", uid: name } },
  );
const preemptor = podOf("critical", {}, { priority: CRITICAL });

const short = (amounts: Readonly<Record<string, bigint>>): readonly InsufficientResource[] =>
  Object.entries(amounts).map(([name, missing]) => ({ name, requested: missing + 5n, used: 15n, capacity: 20n }));

const chosen = (shortages: Readonly<Record<string, bigint>>, ...pods: readonly Pod[]) => {
  const preemption = podsToPreempt(preemptor, pods, short(shortages));
  return preemption.possible
    ? preemption.pods.map(({ metadata }) => metadata.name)
    : Object.fromEntries(preemption.missing);
};
const GI = 1024n ** 3n;

describe("podsToPreempt", () => {
  it.each<[string, Readonly<Record<string, bigint>>, readonly Pod[], unknown]>([
    ["nothing if nothing is short", {}, [podOf("a", { cpu: "1" })], []],
    ["a pod that gives exactly what is missing", { cpu: 1000n }, [podOf("a", { cpu: "1" })], ["a"]],
    ["nobody, and says what stays missing", { cpu: 1001n }, [podOf("a", { cpu: "1" })], { cpu: 1n }],
    ["only what is missing in the end", { cpu: 1000n, memory: GI }, [podOf("a", { cpu: "1" })], { memory: GI }],
    [
      "one pod that suffices rather than two",
      { cpu: 1000n },
      [podOf("a", { cpu: "600m" }), podOf("b", { cpu: "1" })],
      ["b"],
    ],
    [
      "the closest first, then what is still missing",
      { cpu: 1000n },
      [podOf("a", { cpu: "200m" }), podOf("b", { cpu: "800m" }), podOf("c", { cpu: "300m" })],
      ["b", "a"],
    ],
    [
      "the smaller memory of pods that suffice, whatever their cpu",
      { cpu: 1000n },
      [podOf("a", { cpu: "2", memory: "1Gi" }), podOf("b", { cpu: "1", memory: "2Gi" })],
      ["a"],
    ],
    [
      "the smaller cpu among equal memory",
      { cpu: 1000n },
      [podOf("a", { cpu: "2" }), podOf("b", { cpu: "1" }), podOf("c", { cpu: "3" })],
      ["b"],
    ],
    ["the first of equal pods", { cpu: 1000n }, [podOf("a", { cpu: "1" }), podOf("b", { cpu: "1" })], ["a"]],
    [
      "by shares of what is missing, not by amounts",
      { cpu: 100n, memory: GI },
      [
        podOf("a", { cpu: "50m", memory: "1Gi" }),
        podOf("b", { cpu: "100m", memory: "900Mi" }),
        podOf("c", { memory: "1Gi" }),
      ],
      ["b", "c"],
    ],
    [
      "by the square of each share",
      { cpu: 1000n, memory: GI },
      [
        podOf("a", { cpu: "500m", memory: "512Mi" }),
        podOf("b", { cpu: "300m", memory: "1Gi" }),
        podOf("c", { cpu: "1" }),
      ],
      ["b", "c"],
    ],
    [
      "a pod for its place, BestEffort first",
      { pods: 1n },
      [podOf("a", { cpu: "1" }), podOf("b", {}), podOf("c", { cpu: "1", memory: "1Gi" }, { guaranteed: true })],
      ["b"],
    ],
    [
      "Burstable pods before Guaranteed ones",
      { cpu: 1000n },
      [podOf("a", { cpu: "1", memory: "1Mi" }, { guaranteed: true }), podOf("b", { cpu: "2" })],
      ["b"],
    ],
    [
      "Guaranteed pods only for what the others cannot give",
      { cpu: 1000n },
      [podOf("a", { cpu: "1", memory: "1Mi" }, { guaranteed: true }), podOf("b", { cpu: "999m" })],
      ["a"],
    ],
    [
      "no BestEffort pod whose place is free already",
      { pods: 1n, cpu: 1000n },
      [podOf("a", {}), podOf("b", { cpu: "1" })],
      ["b"],
    ],
  ])("chooses %s", (_, shortages, pods, expected) => {
    expect(chosen(shortages, ...pods)).toEqual(expected);
  });

  it.each<[string, number | undefined, number | undefined, boolean]>([
    ["a pod without priority", CRITICAL, undefined, true],
    ["a pod of no critical priority", CRITICAL, CRITICAL - 1, true],
    ["no critical pod of the same priority", CRITICAL, CRITICAL, false],
    ["a critical pod of a lower priority", CRITICAL + 1, CRITICAL, true],
    ["no critical pod of a higher priority", CRITICAL, CRITICAL + 1, false],
    ["nobody as a pod without priority", undefined, -1, false],
    ["a pod of lower priority as one that is not critical", 7, 6, true],
    ["no pod without priority as one that is not critical", 7, undefined, false],
  ])("takes the place of %s", (_, own, other, possible) => {
    const [mine, theirs] = [own, other].map((priority) =>
      podOf("p", { cpu: "1" }, priority === undefined ? {} : { priority }),
    );
    if (mine === undefined || theirs === undefined) throw new Error("two pods are made");
    expect(podsToPreempt(mine, [theirs], short({ cpu: 1000n })).possible).toBe(possible);
  });
});
