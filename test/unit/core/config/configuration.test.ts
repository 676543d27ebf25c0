import { describe, expect, it } from "vitest";
import { configAt, withConfigAt } from "../../../../src/core/config/configAtPath.ts";
import { formatFieldPath } from "../../../../src/core/config/configProblem.ts";
import { decodeConfiguration } from "../../../../src/core/config/decodeConfiguration.ts";
import {
  defaultConfiguration,
  withDefaultEviction,
  withLegacyDefaults,
} from "../../../../src/core/config/defaultConfiguration.ts";
import { encodeConfiguration } from "../../../../src/core/config/encodeConfiguration.ts";
import { mergePatch } from "../../../../src/core/config/mergePatch.ts";

const HEADER = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };
const allOn = (): boolean => true;
const load = (fields: object) => defaultConfiguration(decodeConfiguration({ ...HEADER, ...fields }).config, allOn);

describe("decodeConfiguration", () => {
  it("reads only what the document sets, durations as milliseconds and quantities in canonical form", () => {
    const document = {
      ...HEADER,
      syncFrequency: "90s",
      maxPods: 20,
      evictionHard: { "memory.available": "5%" },
      featureGates: { EventedPLEG: true },
      staticPodURLHeader: { Accept: ["a", "b"] },
      tlsCurvePreferences: [29],
      memoryThrottlingFactor: 0.8,
      reservedMemory: [{ numaNode: 0, limits: { memory: "1024Mi" } }],
      logging: { flushFrequency: 2_000_000_000, options: { json: { infoBufferSize: 1024 } } },
      tracing: {},
      clusterDNS: null,
    };
    expect(decodeConfiguration(document)).toEqual({
      config: {
        syncFrequency: 90_000,
        maxPods: 20,
        evictionHard: { "memory.available": "5%" },
        featureGates: { EventedPLEG: true },
        staticPodURLHeader: { Accept: ["a", "b"] },
        tlsCurvePreferences: [29],
        memoryThrottlingFactor: 0.8,
        reservedMemory: [{ numaNode: 0, limits: { memory: "1Gi" } }],
        logging: { flushFrequency: 2_000, options: { json: { infoBufferSize: "1024" } } },
        tracing: {},
      },
      problems: [],
    });
  });

  const INT32 = "must be between -2147483648 and 2147483647, got";
  it.each<[object, string | undefined]>([
    [{ maxPods: 2_147_483_647 }, undefined],
    [{ maxPods: 2_147_483_648 }, `maxPods: ${INT32} 2147483648`],
    [{ maxPods: -2_147_483_648 }, undefined],
    [{ maxPods: -2_147_483_649 }, `maxPods: ${INT32} -2147483649`],
    [{ maxPods: "1" }, 'maxPods: must be a whole number, got "1"'],
    [{ tlsCurvePreferences: [1.5] }, "tlsCurvePreferences[0]: must be a whole number, got 1.5"],
    [{ podPidsLimit: Number.MAX_SAFE_INTEGER }, undefined],
    [{ podPidsLimit: 2 ** 53 }, expect.stringContaining("podPidsLimit: must be between") as string],
    [{ logging: { verbosity: 4_294_967_295 } }, undefined],
    [{ logging: { verbosity: 4_294_967_296 } }, "logging.verbosity: must be between 0 and 4294967295, got 4294967296"],
    [{ logging: { verbosity: -1 } }, "logging.verbosity: must be between 0 and 4294967295, got -1"],
    [{ memoryThrottlingFactor: "1" }, 'memoryThrottlingFactor: must be a number, got "1"'],
    [{ enableServer: "yes" }, 'enableServer: must be true or false, got "yes"'],
    [{ address: 1 }, "address: must be a string, got 1"],
    [{ syncFrequency: 5 }, 'syncFrequency: must be a duration such as "1m30s", got 5; did you mean "5s"?'],
    [{ syncFrequency: 0 }, 'syncFrequency: must be a duration such as "1m30s", got 0; did you mean "0s"?'],
    [{ syncFrequency: -5 }, 'syncFrequency: must be a duration such as "1m30s", got -5'],
    [{ syncFrequency: "5" }, 'syncFrequency: must be a duration such as "1m30s", got "5"'],
    [{ featureGates: { A: "on" } }, 'featureGates.A: must be true or false, got "on"'],
    [{ featureGates: [] }, "featureGates: must be a map, got a list"],
    [{ clusterDNS: "a" }, 'clusterDNS: must be a list, got "a"'],
    [{ authentication: 1 }, "authentication: must be a map, got 1"],
    [{ registerWithTaints: [1] }, "registerWithTaints[0]: must be a map, got 1"],
    [{ staticPodURLHeader: { a: "b" } }, 'staticPodURLHeader.a: must be a list, got "b"'],
    [{ staticPodURLHeader: { a: [1] } }, "staticPodURLHeader.a[0]: must be a string, got 1"],
    [{ evictionHard: { "memory.available": 5 } }, 'evictionHard["memory.available"]: must be a string, got 5'],
  ])("of %j has the problem %j", (fields, problem) => {
    const { problems } = decodeConfiguration({ ...HEADER, ...fields });
    expect(problems.map(({ path, reason }) => `${formatFieldPath(path)}: ${reason}`)).toEqual(
      problem === undefined ? [] : [problem],
    );
  });

  it.each([
    [[], "must be a map of fields, got a list"],
    ["text", 'must be a map of fields, got "text"'],
  ])("of %j is no configuration", (document, reason) => {
    expect(decodeConfiguration(document)).toEqual({ config: {}, problems: [{ path: [], reason }] });
  });

  it("keeps null in a map of a patch only", () => {
    const document = { ...HEADER, evictionHard: { "memory.available": null, "nodefs.available": "5%" } };
    const whole = decodeConfiguration(document);
    const patch = decodeConfiguration(document, "patch");
    expect([whole.problems.length, patch.problems.length]).toEqual([1, 0]);
    expect([whole.config, patch.config]).toEqual([
      { evictionHard: { "nodefs.available": "5%" } },
      { evictionHard: { "nodefs.available": "5%" } },
    ]);
  });

  it("reports every problem and keeps the other fields", () => {
    const document = {
      kind: "KubeletConfiguration",
      MaxPods: 1,
      maxPods: 1.5,
      port: 10260,
      clusterDNS: [1, "10.0.0.10"],
    };
    expect(decodeConfiguration(document)).toEqual({
      config: { port: 10260, clusterDNS: ["10.0.0.10"] },
      problems: [
        { path: ["apiVersion"], reason: "must be kubelet.config.k8s.io/v1beta1, but is missing" },
        { path: ["MaxPods"], reason: "unknown field; did you mean maxPods?" },
        { path: ["maxPods"], reason: "must be a whole number, got 1.5" },
        { path: ["clusterDNS", 0], reason: "must be a string, got 1" },
      ],
    });
  });
});

describe("defaultConfiguration", () => {
  it("treats a non-pointer zero as unset and keeps a pointer's zero", () => {
    const config = load({ port: 0, syncFrequency: "0s", maxPods: 0, healthzPort: 0, registryPullQPS: 0 });
    const { port, syncFrequency, maxPods, healthzPort, registryPullQPS } = config;
    expect({ port, syncFrequency, maxPods, healthzPort, registryPullQPS }).toEqual({
      port: 10250,
      syncFrequency: 60_000,
      maxPods: 110,
      healthzPort: 0,
      registryPullQPS: 0,
    });
  });

  it("keeps an explicit empty enforceNodeAllocatable", () => {
    expect(load({ enforceNodeAllocatable: [] }).enforceNodeAllocatable).toEqual([]);
  });

  it.each<[object, boolean]>([
    [{}, true],
    [{ maxParallelImagePulls: 1 }, true],
    [{ maxParallelImagePulls: 2 }, false],
    [{ maxParallelImagePulls: 2, serializeImagePulls: true }, true],
  ])("derives serializeImagePulls from %j", (fields, expected) => {
    expect(load(fields).serializeImagePulls).toBe(expected);
  });

  it.each<[object, number]>([
    [{}, 300_000],
    [{ nodeStatusUpdateFrequency: "20s" }, 20_000],
    [{ nodeStatusUpdateFrequency: "20s", nodeStatusReportFrequency: "1m" }, 60_000],
  ])("derives nodeStatusReportFrequency from %j", (fields, expected) => {
    expect(load(fields).nodeStatusReportFrequency).toBe(expected);
  });

  it("converts any negative podPidsLimit to -1", () => {
    expect(load({ podPidsLimit: -7 }).podPidsLimit).toBe(-1);
  });

  it("sets no gated default while the gate is off", () => {
    const config = defaultConfiguration({}, () => false);
    expect([config.crashLoopBackOff, config.imagePullCredentialsVerificationPolicy]).toEqual([{}, ""]);
  });

  it("fills members of list items with zeros", () => {
    expect(load({ registerWithTaints: [{ key: "a", effect: "NoSchedule" }] }).registerWithTaints).toEqual([
      { key: "a", value: "", effect: "NoSchedule" },
    ]);
  });
});

describe("withDefaultEviction", () => {
  const defaults = {
    "imagefs.available": "15%",
    "imagefs.inodesFree": "5%",
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
  };
  const own = { "memory.available": "5%" };
  it.each<[object, object]>([
    [{}, defaults],
    [{ evictionHard: own }, own],
    [{ evictionHard: {} }, {}],
    [{ evictionHard: own, mergeDefaultEvictionSettings: false }, own],
    [
      { evictionHard: own, mergeDefaultEvictionSettings: true },
      { ...defaults, ...own },
    ],
  ])("turns %j into the thresholds %j", (given, expected) => {
    expect(withDefaultEviction({ ...given })["evictionHard"]).toEqual(expected);
  });
});

describe("withLegacyDefaults", () => {
  it("applies the defaults that hold without a configuration file", () => {
    const { readOnlyPort, authentication, authorization, evictionHard } = withLegacyDefaults(load({}));
    expect({ readOnlyPort, authentication, authorization, evictionHard }).toEqual({
      readOnlyPort: 0,
      authentication: {
        x509: { clientCAFile: "" },
        webhook: { enabled: false, cacheTTL: 120_000 },
        anonymous: { enabled: true },
      },
      authorization: { mode: "AlwaysAllow", webhook: { cacheAuthorizedTTL: 300_000, cacheUnauthorizedTTL: 30_000 } },
      evictionHard: {},
    });
  });
});

describe("encodeConfiguration", () => {
  it("formats durations as Go does and omits non-pointer zeros", () => {
    const wire = encodeConfiguration(load({ healthzPort: 0, maxPods: 7, cpuCFSQuotaPeriod: "50ms" }));
    const { healthzPort, maxPods, cpuCFSQuotaPeriod, imageMaximumGCAge, memorySwap, logging } = wire;
    expect({ healthzPort, maxPods, cpuCFSQuotaPeriod, imageMaximumGCAge, memorySwap, logging }).toEqual({
      healthzPort: 0,
      maxPods: 7,
      cpuCFSQuotaPeriod: "50ms",
      imageMaximumGCAge: "0s",
      memorySwap: {},
      logging: {
        format: "text",
        flushFrequency: "5s",
        verbosity: 0,
        options: { text: { infoBufferSize: "0" }, json: { infoBufferSize: "0" } },
      },
    });
    expect(
      ["readOnlyPort", "staticPodPath", "evictionHard", "runOnce", "tracing"].filter((name) => name in wire),
    ).toEqual([]);
  });

  it("decodes to the same configuration", () => {
    const config = load({
      registerWithTaints: [{ key: "a", effect: "NoExecute" }],
      reservedMemory: [{ numaNode: 1, limits: { memory: "1Gi" } }],
      shutdownGracePeriodByPodPriority: [{ priority: 0, shutdownGracePeriodSeconds: 0 }],
      staticPodURLHeader: { a: ["b"] },
      tracing: { endpoint: "localhost:4317" },
      userNamespaces: { idsPerPod: 65536 },
      maxParallelImagePulls: 5,
      logging: { vmodule: [{ filePattern: "a", verbosity: 0 }] },
    });
    const again = decodeConfiguration(encodeConfiguration(config));
    expect(again.problems).toEqual([]);
    expect(defaultConfiguration(again.config, allOn)).toEqual(config);
  });

  it("writes lists and maps that hold something, and leaves out empty ones", () => {
    const written = ["clusterDNS", "allowedUnsafeSysctls", "featureGates", "qosReserved"] as const;
    const wire = (fields: object): readonly unknown[] => {
      const encoded = encodeConfiguration(load(fields));
      return written.map((name) => encoded[name]);
    };
    const full = [["10.0.0.10"], ["net.*"], { EventedPLEG: true }, { memory: "50%" }];
    expect(wire(Object.fromEntries(written.map((name, index) => [name, full[index]])))).toEqual(full);
    expect(wire({ clusterDNS: [], allowedUnsafeSysctls: [], featureGates: {}, qosReserved: {} })).toEqual(
      written.map(() => undefined),
    );
  });
});

describe("mergePatch", () => {
  it("merges maps, replaces lists and scalars, and removes keys set to null", () => {
    const target = { a: { x: 1, y: 2 }, list: [1, 2], gone: { z: 1 }, kept: true };
    expect(
      mergePatch(target, { a: { y: 3, z: 4 }, list: [9], gone: null, absent: null, fresh: { deep: { b: null } } }),
    ).toEqual({
      a: { x: 1, y: 3, z: 4 },
      list: [9],
      kept: true,
      fresh: { deep: {} },
    });
  });

  it("replaces a scalar by a map", () => {
    expect(mergePatch({ a: 1 }, { a: { b: 2 } })).toEqual({ a: { b: 2 } });
  });
});

describe("paths", () => {
  it("reads and replaces nested fields without touching the rest", () => {
    const before = load({});
    const after = withConfigAt(before, "authentication.webhook.cacheTTL", 5);
    expect([
      configAt(before, "authentication.webhook.cacheTTL"),
      configAt(after, "authentication.webhook.cacheTTL"),
    ]).toEqual([120_000, 5]);
    expect({ ...after, authentication: before.authentication }).toEqual(before);
  });

  it("returns undefined below an unset pointer and creates it when written", () => {
    const before = load({});
    expect(configAt(before, "tracing.endpoint")).toBeUndefined();
    expect(withConfigAt(before, "tracing.endpoint", "a:1").tracing).toEqual({ endpoint: "a:1" });
  });

  it("are formatted with brackets for indexes and unusual keys", () => {
    expect(formatFieldPath(["evictionHard", "memory.available", 0, "x"])).toBe('evictionHard["memory.available"][0].x');
  });
});
