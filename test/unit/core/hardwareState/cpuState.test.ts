import { describe, expect, it } from "vitest";
import { type CpuState, decodeCpuState, encodeCpuState } from "../../../../src/core/hardwareState/cpuState.ts";

const pods = (entries: Readonly<Record<string, Readonly<Record<string, string>>>>) =>
  new Map(Object.entries(entries).map(([uid, containers]) => [uid, new Map(Object.entries(containers))]));
const stateOf = (more: Partial<CpuState>): CpuState => ({
  policy: "none",
  sharedCpus: "",
  entries: new Map(),
  podEntries: new Map(),
  ...more,
});
const checksumOf = (text: string): unknown => (JSON.parse(text) as { checksum: unknown }).checksum;

describe("encodeCpuState", () => {
  const some = stateOf({
    policy: "static",
    sharedCpus: "0,4-7",
    entries: pods({ "uid-b": { side: "3", main: "1-2" }, "uid-a": { main: "8" } }),
  });

  it("writes what upstream reads, keys in Go's order", () => {
    expect(encodeCpuState(some, "containers")).toBe(
      '{"policyName":"static","defaultCpuSet":"0,4-7","entries":{"uid-a":{"main":"8"},"uid-b":{"main":"1-2","side":"3"}},"checksum":2214795605}',
    );
  });

  // Checksums that upstream's kubelet computes, before and with pods as a whole.
  it.each<[string, CpuState, number, number]>([
    ["nothing is given out", stateOf({}), 1353318690, 642675224],
    ["containers have CPUs", some, 2214795605, 366369895],
    [
      "the policy is none, yet containers have CPUs",
      stateOf({ sharedCpus: "1-3", entries: pods({ pod: { container1: "4-6", container2: "1-3" } }) }),
      3610638499,
      3610638499,
    ],
    [
      "a pod has CPUs as a whole",
      stateOf({
        policy: "static",
        sharedCpus: "1-2",
        entries: pods({ pod1: { container1: "5-6", container2: "3-4" } }),
        podEntries: new Map([["pod2", "7-9"]]),
      }),
      0,
      766259872,
    ],
  ])("has upstream's checksum if %s", (_, state, containers, withPods) => {
    if (containers > 0) expect(checksumOf(encodeCpuState(state, "containers"))).toBe(containers);
    if (withPods !== containers) expect(checksumOf(encodeCpuState(state, "pods"))).toBe(withPods);
    expect(decodeCpuState(encodeCpuState(state, "pods"))).toEqual({ state });
  });
});

describe("decodeCpuState", () => {
  const V2 = '"policyName":"static","defaultCpuSet":"7-9","entries":{"pod":{"container1":"4-6","container2":"1-3"}}';
  const state = stateOf({
    policy: "static",
    sharedCpus: "7-9",
    entries: pods({ pod: { container1: "4-6", container2: "1-3" } }),
  });
  const DATA = JSON.stringify('{"policyName":"none","defaultCPUSet":"4-6"}');

  it.each([
    ["of all versions up to 1.35", `{${V2},"checksum":964019483}`, state],
    ["of version 1.36", `{${V2},"checksum":1692845551}`, state],
    ["of version 1.36 with the gate for pods", `{${V2},"checksum":1844444301}`, state],
    ["without a checksum", `{${V2}}`, state],
    [
      "of later versions",
      `{"policyName":"x","checksum":1,"data":${DATA},"dataChecksum":657950972}`,
      stateOf({ sharedCpus: "4-6" }),
    ],
  ])("reads a file %s", (_, text, expected) => {
    expect(decodeCpuState(text)).toEqual({ state: expected });
  });

  it.each([
    ["", "it is empty"],
    [" \n", "it is empty"],
    ["{", "it is no JSON object"],
    ["[]", "it is no JSON object"],
    [`{${V2},"checksum":964019484}`, "its checksum does not match: it is damaged, or of an unknown version"],
    [`{${V2},"checksum":"964019483"}`, "its checksum does not match: it is damaged, or of an unknown version"],
    [`{"data":${DATA},"dataChecksum":1}`, "its checksum does not match: it is damaged, or of an unknown version"],
    ['{"data":{}}', "its format is unknown, perhaps that of a newer kubelet"],
    ["{}", "its entries are none of the policies none and static"],
    ['{"policyName":"static","defaultCpuSet":"x"}', "its entries are none of the policies none and static"],
    [
      '{"policyName":"static","defaultCpuSet":"0","entries":{"containerID":"1"}}',
      "its entries are none of the policies none and static",
    ],
    [
      '{"policyName":"static","defaultCpuSet":"0","entries":{"pod":{"main":"0-99999"}}}',
      "its entries are none of the policies none and static",
    ],
  ])("refuses %j with the reason", (text, fault) => {
    expect(decodeCpuState(text)).toEqual({ fault });
  });
});
