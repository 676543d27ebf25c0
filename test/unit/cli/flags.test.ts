import { describe, expect, it } from "vitest";
import { CONFIG_FIELDS, CONFIG_PATHS } from "../../../src/core/config/configFields.ts";
import type { FlagSpec, FlagType } from "../../../src/cli/flagSpec.ts";
import { KUBELET_FLAGS, propertyOfFlag } from "../../../src/cli/flags.ts";
import { parseFlagValue } from "../../../src/cli/flagValues.ts";
import { OWN_FLAGS } from "../../../src/cli/ownFlags.ts";
import { defaultOfFlag, ownFlagValues, parseFlags } from "../../../src/cli/parseKubeletFlags.ts";
import { kubeletFlagsHelp } from "../../../src/cli/helpText.ts";
import { rowsOf, UPSTREAM_FLAGS } from "../core/config/upstreamFacts.ts";

const facts = rowsOf(UPSTREAM_FLAGS).map(([flag = "", type = "", fallback = "", deprecated = ""]) => {
  const [name = ""] = flag.replace("--", "").split(",");
  return { name, type, fallback, isDeprecated: deprecated === "yes" };
});
const flagNamed = (name: string): FlagSpec => {
  const spec = KUBELET_FLAGS.find((flag) => flag.name === name);
  if (spec === undefined) throw new Error(`no flag ${name}`);
  return spec;
};

describe("the flag table", () => {
  it("has upstream's flags and a few of its own", () => {
    const names = KUBELET_FLAGS.map(({ name }) => name);
    expect(names.toSorted()).toEqual(
      [
        ...facts.map(({ name }) => name),
        "local-socket",
        "local-socket-group",
        "live-view",
        "read-only-bind-address",
        "allow-streams-by-get",
        "proc-sys-dir",
        "cloud-metadata",
        "cloud-metadata-url",
        "gpu-manager",
        "offline-boot",
        "offline-boot-wait",
        "gpu-manager-root",
        "container-runtime",
        "docker-endpoint",
        "network-plugin",
        "cni-conf-dir",
        "cni-bin-dir",
        "cni-cache-dir",
        "pod-infra-container-image",
      ].toSorted(),
    );
  });

  it.each(facts)("gives --$name the type $type, the default $fallback, deprecated $isDeprecated", (fact) => {
    const spec = flagNamed(fact.name);
    expect({
      name: spec.name,
      type: spec.type,
      fallback: spec.default,
      isDeprecated: spec.deprecated !== undefined,
    }).toEqual(fact);
  });

  it("binds every flag a field names", () => {
    const named = CONFIG_PATHS.flatMap((path) => CONFIG_FIELDS[path].flag ?? []);
    const bound = KUBELET_FLAGS.filter(({ field }) => field !== undefined).map(({ name }) => name);
    expect(bound.toSorted()).toEqual(named.toSorted());
  });

  it("reads its own defaults", () => {
    const unread = KUBELET_FLAGS.filter((spec) => spec.default !== "" && defaultOfFlag(spec) === undefined);
    expect(unread.map(({ name }) => name)).toEqual([]);
  });

  it("gives the flags that are no field these values", () => {
    const values = ownFlagValues([], OWN_FLAGS);
    expect(Object.keys(values).toSorted()).toEqual(OWN_FLAGS.map(({ name }) => propertyOfFlag(name)).toSorted());
    const { rootDir, nodeLabels, housekeepingInterval, maximumDeadContainers, exitOnLockContention, nodeIp } = values;
    expect({ rootDir, nodeLabels, housekeepingInterval, maximumDeadContainers, exitOnLockContention, nodeIp }).toEqual({
      rootDir: "/var/lib/kubelet",
      nodeLabels: {},
      housekeepingInterval: 10_000,
      maximumDeadContainers: -1,
      exitOnLockContention: false,
      nodeIp: "",
    });
  });
});

const SAMPLES: Readonly<Record<FlagType, readonly [string, unknown]>> = {
  string: ["x", "x"],
  bool: ["true", true],
  int: ["7", 7],
  int32: ["7", 7],
  int64: ["7", 7],
  duration: ["1m30s", 90_000],
  ip: ["10.0.0.1", "10.0.0.1"],
  quantity: ["1024Ki", "1Mi"],
  stringSlice: ["a,b", ["a", "b"]],
  mapStringString: ["a=b", { a: "b" }],
  mapStringBool: ["a=true", { a: true }],
  colonSeparatedMultimapStringString: ["a:b", { a: ["b"] }],
  "[]v1.Taint": ["a=b:NoSchedule", [{ key: "a", value: "b", effect: "NoSchedule" }]],
  "reserved-memory": ["0:memory=1Gi", [{ numaNode: 0, limits: { memory: "1Gi" } }]],
  Level: ["4", 4],
  "pattern=N,...": ["a=4", [{ filePattern: "a", verbosity: 4 }]],
  version: ["true", true],
};

describe("every flag", () => {
  it.each(KUBELET_FLAGS.map((spec) => [spec.name, spec] as const))(
    "--%s reads its value in both forms",
    (name, spec) => {
      const [plain, value] = SAMPLES[spec.type];
      const text = spec.pairs === "lessThan" ? "a<b" : plain;
      const joined = parseFlags([`--${name}=${text}`], KUBELET_FLAGS);
      const apart = parseFlags(value === true ? [`--${name}`] : [`--${name}`, text], KUBELET_FLAGS);
      const expected = { given: [{ spec, value }], positional: [], help: false, errors: [] };
      expect([joined, apart]).toEqual([expected, expected]);
    },
  );

  it("is in the help", () => {
    const help = kubeletFlagsHelp();
    expect(facts.filter(({ name }) => !new RegExp(`^ +(-\\w, )?--${name}[ [\\n]`, "m").test(help))).toEqual([]);
  });
});

describe("values", () => {
  const read = (type: FlagType, pairs: FlagSpec["pairs"], ...texts: readonly string[]) =>
    parseFlagValue({ ...flagNamed("config"), type, ...(pairs === undefined ? {} : { pairs }) }, texts);
  const good = (value: unknown) => ({ ok: true, value });
  const wrong = (...faults: readonly string[]) => ({ ok: false, faults });

  it.each<[FlagType, string, unknown]>([
    ["bool", "T", true],
    ["bool", "0", false],
    ["int32", "-5", -5],
    ["int32", "+5", 5],
    ["int32", "0x1F", 31],
    ["int32", "010", 8],
    ["int32", "0b101", 5],
    ["int64", "9007199254740991", 9007199254740991],
    ["ip", "", ""],
    ["ip", "::1", "::1"],
    ["stringSlice", "", []],
    ["stringSlice", '"a,b",c', ["a,b", "c"]],
    ["stringSlice", '"say ""hi"""', ['say "hi"']],
    ["stringSlice", "a,", ["a", ""]],
    ["mapStringString", " a = b ,,c=d=e", { a: "b", c: "d=e" }],
    ["mapStringString", "", {}],
    ["mapStringBool", "A=true,B=f", { A: true, B: false }],
    ["colonSeparatedMultimapStringString", "a:hello,b:again,a:x:y", { a: ["hello", "x:y"], b: ["again"] }],
    ["[]v1.Taint", "", []],
    [
      "[]v1.Taint",
      "a:NoExecute,b=c:PreferNoSchedule",
      [
        { key: "a", value: "", effect: "NoExecute" },
        { key: "b", value: "c", effect: "PreferNoSchedule" },
      ],
    ],
    [
      "reserved-memory",
      "1:memory=1Gi,hugepages-2Mi=4Mi",
      [{ numaNode: 1, limits: { memory: "1Gi", "hugepages-2Mi": "4Mi" } }],
    ],
    ["pattern=N,...", "", []],
    [
      "pattern=N,...",
      "a=1,b*=2",
      [
        { filePattern: "a", verbosity: 1 },
        { filePattern: "b*", verbosity: 2 },
      ],
    ],
    ["duration", "0", 0],
    ["version", "raw", true],
  ])("%s reads %j", (type, text, value) => {
    expect(read(type, undefined, text)).toEqual(good(value));
  });

  it.each<[FlagType, string, string]>([
    ["bool", "yes", 'must be true or false, got "yes"'],
    ["bool", "", 'must be true or false, got ""'],
    ["int32", "1.5", 'must be a whole number, got "1.5"'],
    ["int32", "", 'must be a whole number, got ""'],
    ["int32", "08", 'must be a whole number, got "08"'],
    ["int32", "2147483648", "must be between -2147483648 and 2147483647, got 2147483648"],
    ["Level", "-1", "must be between 0 and 2147483647, got -1"],
    ["duration", "10", 'must be a duration such as 1m30s, got "10"'],
    ["quantity", "1x", 'must be a quantity such as 100Mi, got "1x"'],
    ["ip", "host", 'must be an IP address, got "host"'],
    ["stringSlice", 'a"b', 'must be values separated by commas, got "a\\"b"'],
    ["mapStringString", "a", 'must be pairs such as key=value, got "a"'],
    ["mapStringBool", "A=maybe", 'A must be true or false, got "maybe"'],
    ["colonSeparatedMultimapStringString", "a", 'must be pairs such as name:value, got "a"'],
    ["[]v1.Taint", "a=b", 'must be taints such as key=value:NoSchedule, got "a=b"'],
    ["[]v1.Taint", "a=b:Never", 'the effect of "a=b:Never" must be one of NoSchedule, PreferNoSchedule, NoExecute'],
    ["[]v1.Taint", "a=b:NoSchedule,a=c:NoSchedule", "the taint a:NoSchedule is given twice"],
    ["[]v1.Taint", ":NoSchedule", 'in ":NoSchedule": a label key must not be empty'],
    ["reserved-memory", "memory=1Gi", 'must be such as 0:memory=1Gi,hugepages-1M=2Gi, got "memory=1Gi"'],
    ["reserved-memory", "0:cpu=1", '"cpu" is neither memory nor hugepages-<size>'],
    ["reserved-memory", "0:memory=much", 'must be pairs such as memory=1Gi, got "memory=much"'],
    ["pattern=N,...", "a", 'must be such as server=4, got "a"'],
    ["version", "maybe", 'must be true, false or raw, got "maybe"'],
  ])("%s refuses %j", (type, text, fault) => {
    expect(read(type, undefined, text)).toEqual(wrong(fault));
  });

  it("of thresholds are written with <", () => {
    expect(read("mapStringString", "lessThan", "memory.available<1Gi,nodefs.available<10%")).toEqual(
      good({ "memory.available": "1Gi", "nodefs.available": "10%" }),
    );
    expect(read("mapStringString", "lessThan", "memory.available=1Gi")).toEqual(
      wrong('must be pairs such as key<value, got "memory.available=1Gi"'),
    );
  });

  it("of policy options are one pair per flag", () => {
    expect(read("mapStringString", "single", "a=b,c=d", "e=f")).toEqual(good({ a: "b,c=d", e: "f" }));
  });

  it("of labels may lack a value", () => {
    expect(read("mapStringString", "labels", "a,b=c")).toEqual(good({ a: "", b: "c" }));
  });

  it("given again replace scalars and taints, and add to lists, maps and reserved memory", () => {
    expect([
      read("int32", undefined, "1", "2"),
      read("[]v1.Taint", undefined, "a:NoSchedule", "b:NoSchedule"),
      read("stringSlice", undefined, "a,b", "c"),
      read("mapStringString", undefined, "a=1,b=2", "a=3"),
      read("colonSeparatedMultimapStringString", undefined, "a:1", "a:2"),
      read("reserved-memory", undefined, "0:memory=1Gi", "1:memory=2Gi"),
    ]).toEqual([
      good(2),
      good([{ key: "b", value: "", effect: "NoSchedule" }]),
      good(["a", "b", "c"]),
      good({ a: "3", b: "2" }),
      good({ a: ["1", "2"] }),
      good([
        { numaNode: 0, limits: { memory: "1Gi" } },
        { numaNode: 1, limits: { memory: "2Gi" } },
      ]),
    ]);
  });

  it("given again are all checked", () => {
    expect(read("int32", undefined, "x", "2")).toEqual(wrong('must be a whole number, got "x"'));
  });
});

describe("the command line", () => {
  const summary = (...argv: readonly string[]) => {
    const { given, positional, help, errors } = parseFlags(argv, KUBELET_FLAGS);
    return { given: Object.fromEntries(given.map(({ spec, value }) => [spec.name, value])), positional, help, errors };
  };
  const nothing = { given: {}, positional: [], help: false, errors: [] };

  it.each<[readonly string[], Readonly<Record<string, unknown>>]>([
    [["-v", "4"], { v: 4 }],
    [["-v=4"], { v: 4 }],
    [["-v4"], { v: 4 }],
    [["--v", "4"], { v: 4 }],
    [["--max_pods", "5"], { "max-pods": 5 }],
    [["--oom-score-adj", "-900"], { "oom-score-adj": -900 }],
    [["--register-node=false", "--fail-swap-on"], { "register-node": false, "fail-swap-on": true }],
    [["--config=a=b="], { config: "a=b=" }],
    [["--config="], { config: "" }],
    [["--config", "--max-pods"], { config: "--max-pods" }],
  ])("%j", (argv, given) => {
    expect(summary(...argv)).toEqual({ ...nothing, given });
  });

  it("takes nothing after a switch as its value", () => {
    expect(summary("--register-node", "false")).toEqual({
      ...nothing,
      given: { "register-node": true },
      positional: ["false"],
    });
  });

  it("takes everything after -- as arguments", () => {
    expect(summary("-v", "1", "--", "--max-pods", "2")).toEqual({
      ...nothing,
      given: { v: 1 },
      positional: ["--max-pods", "2"],
    });
  });

  it("reports everything wrong in it", () => {
    expect(summary("--max-podz", "3", "--wobble", "-x", "--v=high", "--node-labels", "a=b", "--max-pods")).toEqual({
      given: { "node-labels": { a: "b" } },
      positional: [],
      help: false,
      errors: [
        "--max-podz: unknown flag; did you mean --max-pods?",
        "--wobble: unknown flag; see rxlet --help",
        "-x: unknown flag; see rxlet --help",
        "--max-pods: needs a value: --max-pods <number>",
        '--v: must be a whole number, got "high"',
      ],
    });
  });

  it.each(["-h", "--help"])("knows %s", (flag) => {
    expect(summary(flag)).toEqual({ ...nothing, help: true });
  });
});
