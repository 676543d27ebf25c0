/** Records of /dev/kmsg, as kernels write them and as none does. */
import { describe, expect, it } from "vitest";
import { parseKernelRecord } from "../../../../src/core/oom/kernelRecord.ts";

describe("parseKernelRecord", () => {
  it.each([
    ["6,63384,40753805832,-;veth0: left promiscuous mode", 6, 63_384, 40_753_805_832, "veth0: left promiscuous mode"],
    ["4,1,0,-;a; b", 4, 1, 0, "a; b"],
    ["30,7,5,-;written by a process", 6, 7, 5, "written by a process"],
    ["6,339,5140900,-,caller=T1;x", 6, 339, 5_140_900, "x"],
    ["6,2,3,-;pci\n SUBSYSTEM=pci\n DEVICE=+pci:0000", 6, 2, 3, "pci"],
    ["6,2,3,-;", 6, 2, 3, ""],
  ])("parses %j", (record, level, sequence, uptimeUs, text) => {
    expect(parseKernelRecord(record)).toEqual({ level, sequence, uptimeUs, text });
  });

  it.each(["", ";", "x", "6,2;text", "a,2,3,-;text", "6,2,3", "-1,2,3,-;text", `${"9".repeat(8_192)};`])(
    "returns nothing for %j",
    (record) => {
      expect(parseKernelRecord(record)).toBeUndefined();
    },
  );
});
