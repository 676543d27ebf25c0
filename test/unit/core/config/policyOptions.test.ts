import { describe, expect, it } from "vitest";
import { parsePolicyOptions, validatePolicyOptions } from "../../../../src/core/config/policyOptions.ts";

type Options = Readonly<Record<string, string>>;

const configOf = (
  cpu: Options,
  topology: Options = {},
  topologyManagerPolicy = "restricted",
  cpuManagerPolicy = "static",
) =>
  ({
    cpuManagerPolicy,
    cpuManagerPolicyOptions: cpu,
    topologyManagerPolicy,
    topologyManagerPolicyOptions: topology,
  }) as Parameters<typeof parsePolicyOptions>[0];
const paths = (...given: Parameters<typeof configOf>) =>
  validatePolicyOptions(configOf(...given), () => true).map(({ path }) => path.join("/"));

describe("parsePolicyOptions", () => {
  const OFF = {
    fullCores: false,
    acrossNodes: false,
    bySocket: false,
    acrossCores: false,
    strictReservation: false,
    alignsByCache: false,
  };
  it.each([
    ["full-pcpus-only", "fullCores"],
    ["distribute-cpus-across-numa", "acrossNodes"],
    ["align-by-socket", "bySocket"],
    ["distribute-cpus-across-cores", "acrossCores"],
    ["strict-cpu-reservation", "strictReservation"],
    ["prefer-align-cpus-by-uncorecache", "alignsByCache"],
  ])("reads %s", (name, field) => {
    expect(parsePolicyOptions(configOf({ [name]: "true" })).cpu).toEqual({ ...OFF, [field]: true });
    expect(parsePolicyOptions(configOf({ [name]: "false" })).cpu).toEqual(OFF);
  });

  it.each<[Options, boolean, number]>([
    [{}, false, 8],
    [{ "prefer-closest-numa-nodes": "1" }, true, 8],
    [{ "prefer-closest-numa-nodes": "F" }, false, 8],
    [{ "max-allowable-numa-nodes": "12" }, false, 12],
  ])("reads of the topology manager %j", (options, prefersClosest, maxNodes) => {
    expect(parsePolicyOptions(configOf({}, options)).topology).toEqual({ prefersClosest, maxNodes });
  });
});

describe("validatePolicyOptions", () => {
  it.each<[string, Parameters<typeof configOf>, readonly string[]]>([
    [
      "true and false in all of Go's forms",
      [
        Object.fromEntries([
          ["full-pcpus-only", "T"],
          ["strict-cpu-reservation", "0"],
        ]),
      ],
      [],
    ],
    ["other texts", [{ "full-pcpus-only": "yes" }], ["cpuManagerPolicyOptions/full-pcpus-only"]],
    ["unknown options", [{ fast: "true" }], ["cpuManagerPolicyOptions/fast"]],
    [
      "options of another policy",
      [{ "full-pcpus-only": "true" }, {}, "none", "none"],
      ["cpuManagerPolicyOptions/full-pcpus-only"],
    ],
    ["align-by-socket", [{ "align-by-socket": "true" }], []],
    [
      "align-by-socket on one node",
      [{ "align-by-socket": "true" }, {}, "single-numa-node"],
      ["cpuManagerPolicyOptions/align-by-socket"],
    ],
    ["no align-by-socket on one node", [{ "align-by-socket": "false" }, {}, "single-numa-node"], []],
    [
      "options that contradict each other",
      [{ "full-pcpus-only": "true", "distribute-cpus-across-cores": "true" }],
      ["cpuManagerPolicyOptions/full-pcpus-only"],
    ],
    ["one of such options off", [{ "full-pcpus-only": "false", "distribute-cpus-across-cores": "true" }], []],
    ["8 nodes", [{}, { "max-allowable-numa-nodes": "8" }], []],
    ["7 nodes", [{}, { "max-allowable-numa-nodes": "7" }], ["topologyManagerPolicyOptions/max-allowable-numa-nodes"]],
    ["16 nodes", [{}, { "max-allowable-numa-nodes": "16" }], []],
    ["17 nodes", [{}, { "max-allowable-numa-nodes": "17" }], ["topologyManagerPolicyOptions/max-allowable-numa-nodes"]],
    [
      "nodes in words",
      [{}, { "max-allowable-numa-nodes": "ten" }],
      ["topologyManagerPolicyOptions/max-allowable-numa-nodes"],
    ],
    [
      "a preference in words",
      [{}, { "prefer-closest-numa-nodes": "yes" }],
      ["topologyManagerPolicyOptions/prefer-closest-numa-nodes"],
    ],
    ["unknown options of the topology manager", [{}, { fast: "true" }], ["topologyManagerPolicyOptions/fast"]],
    ["anything for a topology manager that is off", [{}, { fast: "true" }, "none"], []],
  ])("accepts or refuses %s", (_, given, expected) => {
    expect(paths(...given)).toEqual(expected);
  });

  it.each([
    ["distribute-cpus-across-numa", "CPUManagerPolicyBetaOptions"],
    ["align-by-socket", "CPUManagerPolicyAlphaOptions"],
    ["distribute-cpus-across-cores", "CPUManagerPolicyAlphaOptions"],
    ["full-pcpus-only", undefined],
    ["strict-cpu-reservation", undefined],
    ["prefer-align-cpus-by-uncorecache", undefined],
  ])("%s needs the gate %s", (name, gate) => {
    const problems = validatePolicyOptions(configOf({ [name]: "true" }), () => false);
    expect(problems.map(({ reason }) => reason)).toEqual(gate === undefined ? [] : [`needs the feature gate ${gate}`]);
    expect(validatePolicyOptions(configOf({ [name]: "true" }), (asked) => asked === gate)).toEqual([]);
  });
});
