import { expect, it } from "vitest";
import { reservedByNode } from "../../../../src/core/numaMemory/reservedByNode.ts";
import { parseResourceList } from "../../../../src/core/resources/resourceList.ts";

const KEPT = parseResourceList({ cpu: "1", memory: "1124Mi", "ephemeral-storage": "1Gi" });
const on = (numaNode: number, limits: Readonly<Record<string, string>>) => ({ numaNode, limits });

it("adds up to what the node keeps from its pods, in any units and on any nodes", () => {
  const reservations = [on(0, { memory: "1Gi" }), on(2, { memory: "104857600" })];
  expect(reservedByNode(reservations, [0, 2], KEPT)).toEqual({
    byNode: new Map([
      [0, new Map([["memory", 1024 ** 3]])],
      [2, new Map([["memory", 100 * 1024 ** 2]])],
    ]),
  });
});

it.each([
  [
    "a node that the machine lacks",
    [on(1, { memory: "1124Mi" })],
    "the reserved memory configuration references a NUMA node 1 that does not exist on this machine",
  ],
  [
    "another sum",
    [on(0, { memory: "1Gi" })],
    'the total amount "1Gi" of type "memory" is not equal to the value "1124Mi" determined by Node Allocatable feature',
  ],
  [
    "no reservation",
    [],
    'the total amount "0" of type "memory" is not equal to the value "1124Mi" determined by Node Allocatable feature',
  ],
  [
    "huge pages that the node does not keep",
    [on(0, { memory: "1124Mi", "hugepages-2Mi": "4Mi" })],
    'the total amount "4Mi" of type "hugepages-2Mi" is not equal to the value "0" determined by Node Allocatable feature',
  ],
])("refuses %s", (_, reservations, fault) => {
  expect(reservedByNode(reservations, [0, 2], KEPT)).toEqual({ fault });
});

it("refuses to reserve no memory at all", () => {
  expect(reservedByNode([], [0], parseResourceList({ cpu: "1" }))).toEqual({
    fault: "[memorymanager] you should specify the system reserved memory",
  });
});
