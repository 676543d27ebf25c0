import { expect, it } from "vitest";
import { insufficientResources, insufficientText } from "../../../../src/core/admission/resourceFit.ts";
import { parseResourceList } from "../../../../src/core/resources/resourceList.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const asking = (requests: Readonly<Record<string, string>>) =>
  podOf({ spec: { containers: [containerOf({ resources: { requests } })] } });

interface Case {
  readonly asks?: Readonly<Record<string, string>>;
  readonly active?: readonly Readonly<Record<string, string>>[];
  readonly has?: Readonly<Record<string, string>>;
  readonly maxPods?: number;
}
const shortages = ({ asks = {}, active = [], has = { cpu: "2", memory: "1Gi" }, maxPods = 10 }: Case) =>
  insufficientResources({
    pod: asking(asks),
    activePods: active.map(asking),
    allocatable: parseResourceList(has),
    maxPods,
  }).map(({ name, requested, used, capacity }) => [name, requested, used, capacity].join(" "));

it.each<[title: string, given: Case, lacking: readonly string[]]>([
  ["the last millicpu is used", { asks: { cpu: "500m" }, active: [{ cpu: "1" }, { cpu: "500m" }] }, []],
  ["a millicpu is missing", { asks: { cpu: "501m" }, active: [{ cpu: "1500m" }] }, ["cpu 501 1500 2000"]],
  ["the last byte is used", { asks: { memory: "1Gi" } }, []],
  ["a byte is missing", { asks: { memory: "1073741825" } }, ["memory 1073741825 0 1073741824"]],
  ["nothing is requested of an overcommitted node", { active: [{ cpu: "3" }] }, []],
  [
    "the smallest amount is requested of a full node",
    { asks: { cpu: "1m" }, active: [{ cpu: "2" }] },
    ["cpu 1 2000 2000"],
  ],
  ["the node has no such native resource", { asks: { "ephemeral-storage": "1" } }, ["ephemeral-storage 1 0 0"]],
  ["another component serves an unknown extended resource", { asks: { "example.com/gpu": "1" } }, []],
  [
    "an extended resource is used up",
    { asks: { "example.com/gpu": "2" }, active: [{ "example.com/gpu": "3" }], has: { "example.com/gpu": "4" } },
    ["example.com/gpu 2 3 4"],
  ],
  ["the node lacks huge pages", { asks: { "hugepages-2Mi": "2Mi" } }, ["hugepages-2Mi 2097152 0 0"]],
  ["the last pod fits", { active: [{}], maxPods: 2 }, []],
  ["a pod is too many", { active: [{}, {}], maxPods: 2 }, ["pods 1 2 2"]],
  [
    "several lack, native resources first",
    {
      asks: { "example.com/gpu": "5", "ephemeral-storage": "1", memory: "2Gi", cpu: "3" },
      has: { cpu: "2", memory: "1Gi", "example.com/gpu": "4" },
      maxPods: 0,
    },
    [
      "pods 1 0 0",
      "cpu 3000 0 2000",
      "memory 2147483648 0 1073741824",
      "ephemeral-storage 1 0 0",
      "example.com/gpu 5 0 4",
    ],
  ],
])("%s", (_, given, lacking) => {
  expect(shortages(given)).toEqual(lacking);
});

it("a shortage names its resource and amounts", () => {
  expect(insufficientText({ name: "cpu", requested: 3n, used: 1n, capacity: 2n })).toBe(
    "Node didn't have enough resource: cpu, requested: 3, used: 1, capacity: 2",
  );
});
