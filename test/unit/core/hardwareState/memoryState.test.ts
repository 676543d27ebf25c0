import { describe, expect, it } from "vitest";
import {
  decodeMemoryState,
  encodeMemoryState,
  type MemoryState,
} from "../../../../src/core/hardwareState/memoryState.ts";

const BLOCK = { nodes: [0], resource: "memory", bytes: 512 };
const TABLE = { total: 2048, systemReserved: 512, allocatable: 1536, reserved: 512, free: 1024 };
const state: MemoryState = {
  policy: "static",
  nodes: new Map([["0", { assignments: 0, memory: new Map([["memory", TABLE]]), cells: [] }]]),
  entries: new Map([["pod", new Map([["container1", [BLOCK]]])]]),
  podEntries: new Map(),
};
const withPods: MemoryState = { ...state, podEntries: new Map([["pod", [BLOCK]]]) };
const checksumOf = (text: string): unknown => (JSON.parse(text) as { checksum: unknown }).checksum;

describe("encodeMemoryState", () => {
  it("writes what upstream reads", () => {
    expect(encodeMemoryState(state, "containers")).toBe(
      '{"policyName":"static","machineState":{"0":{"numberOfAssignments":0,"memoryMap":{"memory":{"total":2048,"systemReserved":512,' +
        '"allocatable":1536,"reserved":512,"free":1024}},"cells":[]}},"entries":{"pod":{"container1":[{"numaAffinity":[0],' +
        '"type":"memory","size":512}]}},"checksum":4215593881}',
    );
  });

  it("has upstream's checksum for pods as a whole", () => {
    expect(checksumOf(encodeMemoryState(withPods, "pods"))).toBe(1278640530);
  });

  it.each(["containers", "pods"] as const)("is read back in the format of %s", (format) => {
    const ten = Array.from(
      { length: 12 },
      (_, id) => [String(id), { assignments: 2, memory: new Map(), cells: [id] }] as const,
    );
    const many: MemoryState = { ...state, policy: "Static", nodes: new Map(ten) };
    expect(decodeMemoryState(encodeMemoryState(many, format))).toEqual({ state: many });
    const none: MemoryState = { policy: "None", nodes: new Map(), entries: new Map(), podEntries: new Map() };
    expect(decodeMemoryState(encodeMemoryState(none, format))).toEqual({ state: none });
  });
});

it.each([
  ["", "it is empty"],
  ["1", "it is no JSON object"],
  [
    encodeMemoryState(state, "containers").replace("1024}", "1023}"),
    "its checksum does not match: it is damaged, or of an unknown version",
  ],
  ['{"machineState":{}}', "its entries are none of the policies None and Static"],
  [
    '{"policyName":"Static","machineState":{"0":{"numberOfAssignments":-1,"cells":[]}}}',
    "its entries are none of the policies None and Static",
  ],
  [
    '{"policyName":"Static","entries":{"p":{"c":[{"numaAffinity":[],"type":"memory"}]}}}',
    "its entries are none of the policies None and Static",
  ],
  [
    `{"policyName":"Static","entries":{"p":{"c":[${'{"numaAffinity":[0],"type":"m"},'.repeat(33).slice(0, -1)}]}}}`,
    "its entries are none of the policies None and Static",
  ],
])("refuses %j with the reason", (text, fault) => {
  expect(decodeMemoryState(text)).toEqual({ fault });
});
