import { describe, expect, it } from "vitest";
import { decodeAllocation, encodeAllocation } from "../../../../src/core/allocation/allocationFile.ts";
import type { PodHardware } from "../../../../src/core/topology/hardware.ts";

const encode = (hardware: PodHardware | undefined): string =>
  encodeAllocation({ allocation: { containers: {} }, resizing: false, hardware });

describe("hardware in the checkpoint of a pod", () => {
  it("is read back without the places that the topology manager chose", () => {
    const text = encode(
      new Map([
        ["main", { cpus: [2, 3, 7], mask: 1 }],
        ["shares", { mask: 1 }],
      ]),
    );
    expect(JSON.parse(text)).toHaveProperty("hardware", { main: { cpus: "2-3,7" } });
    expect(decodeAllocation(text)?.hardware).toEqual(new Map([["main", { cpus: [2, 3, 7] }]]));
  });

  it("is read back with the memory, in whose order it is written", () => {
    const memory = [
      { nodes: [0, 2], resource: "memory", bytes: 5, heldBytes: 5 },
      { nodes: [0, 2], resource: "hugepages-2Mi", bytes: 4, heldBytes: 0 },
    ];
    const hardware: PodHardware = new Map([
      ["pinned", { memory }],
      ["both", { cpus: [1], memory: memory.slice(0, 1) }],
    ]);
    expect(decodeAllocation(encode(hardware))?.hardware).toEqual(hardware);
  });

  it("is absent if no container has any", () => {
    expect(encode(new Map([["main", {}]]))).toBe(encode(undefined));
    expect(decodeAllocation(encode(undefined))?.hardware).toBeUndefined();
  });

  it.each([
    '"x"',
    '{"main":1}',
    '{"main":{}}',
    '{"main":{"cpus":3}}',
    '{"main":{"cpus":"3-x"}}',
    ...[
      "[]",
      "{}",
      "[1]",
      '[{"nodes":[],"resource":"memory","bytes":1,"heldBytes":1}]',
      '[{"nodes":[1,0],"resource":"memory","bytes":1,"heldBytes":1}]',
      '[{"nodes":[1024],"resource":"memory","bytes":1,"heldBytes":1}]',
      '[{"nodes":[0],"resource":7,"bytes":1,"heldBytes":1}]',
      '[{"nodes":[0],"resource":"memory","bytes":-1,"heldBytes":1}]',
      '[{"nodes":[0],"resource":"memory","bytes":1,"heldBytes":0.5}]',
      `[${'{"nodes":[0],"resource":"memory","bytes":1,"heldBytes":1},'.repeat(33).slice(0, -1)}]`,
    ].map((memory) => `{"main":{"memory":${memory}}}`),
  ])("makes the checkpoint unusable if it is damaged: %s", (hardware) => {
    const text = encode(undefined).replace(/\}\n$/, `,"hardware":${hardware}}`);
    expect(decodeAllocation(text)).toBeUndefined();
  });
});
