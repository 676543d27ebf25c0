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

  it("is absent if no container has any", () => {
    expect(encode(new Map([["main", {}]]))).toBe(encode(undefined));
    expect(decodeAllocation(encode(undefined))?.hardware).toBeUndefined();
  });

  it.each(['"x"', '{"main":1}', '{"main":{}}', '{"main":{"cpus":3}}', '{"main":{"cpus":"3-x"}}'])(
    "makes the checkpoint unusable if it is damaged: %s",
    (hardware) => {
      const text = encode(undefined).replace(/\}\n$/, `,"hardware":${hardware}}`);
      expect(decodeAllocation(text)).toBeUndefined();
    },
  );
});
