import { describe, expect, it } from "vitest";
import { MAX_DIRECTORY_CHARS } from "../../../src/cli/configReaders.ts";
import { KUBELET_FLAGS } from "../../../src/cli/flags.ts";
import type { KubeletOptions } from "../../../src/cli/kubeletOptions.ts";
import { loadKubeletOptions } from "../../../src/cli/loadKubeletOptions.ts";
import { parseFlags } from "../../../src/cli/parseKubeletFlags.ts";
import type { KubeletConfiguration } from "../../../src/core/config/kubeletConfiguration.ts";
import { HEADER, memoryReaders } from "./memoryReaders.ts";

type Files = Readonly<Record<string, string>>;
const load = (argv: readonly string[], files: Files = {}) =>
  loadKubeletOptions(parseFlags(argv, KUBELET_FLAGS), memoryReaders(files));

async function options(argv: readonly string[], files: Files = {}): Promise<KubeletOptions> {
  const loaded = await load(argv, files);
  if (!loaded.ok) throw new Error(loaded.errors.join("\n"));
  return loaded.options;
}
async function errors(argv: readonly string[], files: Files = {}): Promise<readonly string[]> {
  const loaded = await load(argv, files);
  return loaded.ok ? [] : loaded.errors;
}
/** Loads one file as --config. */
const inFile = (body: string): Promise<readonly string[]> =>
  errors(["--config", "/k.yaml"], { "/k.yaml": HEADER + body });

const pick = <Key extends keyof KubeletConfiguration>(config: KubeletConfiguration, ...keys: readonly Key[]) =>
  Object.fromEntries(keys.map((key) => [key, config[key]]));

describe("precedence", () => {
  it("has the flags' old defaults without a file", async () => {
    const { config } = await options([]);
    expect(pick(config, "readOnlyPort", "evictionHard", "maxPods", "authorization")).toEqual({
      readOnlyPort: 0,
      evictionHard: {},
      maxPods: 110,
      authorization: { mode: "AlwaysAllow", webhook: { cacheAuthorizedTTL: 300_000, cacheUnauthorizedTTL: 30_000 } },
    });
  });

  it("has the file's defaults with a file, even an empty one", async () => {
    const { config } = await options(["--config=/k.yaml"], { "/k.yaml": HEADER });
    expect([config.readOnlyPort, config.authorization.mode, config.authentication.anonymous.enabled]).toEqual([
      0,
      "Webhook",
      false,
    ]);
    expect(config.evictionHard["memory.available"]).toBe("100Mi");
  });

  it("keeps the flags' old defaults with drop-ins alone", async () => {
    const { config } = await options(["--config-dir=/d"], { "/d/a.conf": `${HEADER}maxPods: 5\n` });
    expect(pick(config, "readOnlyPort", "maxPods", "evictionHard")).toEqual({
      readOnlyPort: 0,
      maxPods: 5,
      evictionHard: {},
    });
  });

  it("is flag over later drop-in over earlier drop-in over file over default", async () => {
    const files = {
      "/k.yaml": `${HEADER}maxPods: 1\npodsPerCore: 1\nport: 1001\nhealthzPort: 1\n`,
      "/d/10.conf": `${HEADER}podsPerCore: 2\nport: 1002\nhealthzPort: 2\n`,
      "/d/20.conf": `${HEADER}port: 1003\nhealthzPort: 3\n`,
    };
    const { config } = await options(["--config=/k.yaml", "--config-dir=/d", "--healthz-port=4"], files);
    expect(pick(config, "maxPods", "podsPerCore", "port", "healthzPort", "eventBurst")).toEqual({
      maxPods: 1,
      podsPerCore: 2,
      port: 1003,
      healthzPort: 4,
      eventBurst: 100,
    });
  });

  it("takes a flag's zero as it is", async () => {
    const { config } = await options(["--max-pods=0", "--config=/k.yaml"], { "/k.yaml": `${HEADER}maxPods: 9\n` });
    expect(config.maxPods).toBe(0);
  });

  it("replaces lists and maps of files by those of flags, but merges feature gates", async () => {
    const body =
      "clusterDNS: [1.1.1.1]\nkubeReserved: {cpu: 1m, memory: 1Mi}\nfeatureGates: {EventedPLEG: true, MemoryQoS: true}\n";
    const argv = ["--config=/k", "--cluster-dns=2.2.2.2", "--kube-reserved=cpu=2m", "--feature-gates=MemoryQoS=false"];
    const { config, featureGates } = await options(argv, { "/k": HEADER + body });
    expect(pick(config, "clusterDNS", "kubeReserved", "featureGates")).toEqual({
      clusterDNS: ["2.2.2.2"],
      kubeReserved: { cpu: "2m" },
      featureGates: { EventedPLEG: true, MemoryQoS: false },
    });
    expect([featureGates.get("EventedPLEG"), featureGates.get("MemoryQoS"), featureGates.get("NodeSwap")]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it("lets either the flag or the file turn seccompDefault on", async () => {
    const on = { "/k": `${HEADER}seccompDefault: true\n` };
    const results = await Promise.all([
      options(["--config=/k", "--seccomp-default=false"], on),
      options(["--config=/k", "--seccomp-default"], { "/k": HEADER }),
      options(["--config=/k"], { "/k": HEADER }),
    ]);
    expect(results.map(({ config }) => config.seccompDefault)).toEqual([true, true, false]);
  });

  it("applies defaults that hang on a gate a flag turns off", async () => {
    const { config } = await options(["--feature-gates=KubeletCrashLoopBackOffMax=false", "--config=/k"], {
      "/k": HEADER,
    });
    expect(config.crashLoopBackOff).toEqual({});
  });
});

describe("drop-ins", () => {
  it("merge maps and objects key by key and replace lists", async () => {
    const files = {
      "/k": `${HEADER}evictionHard: {memory.available: 1Gi}\nclusterDNS: [1.1.1.1, 2.2.2.2]\nauthentication: {webhook: {cacheTTL: 1m}}\n`,
      "/d/a.conf": `${HEADER}evictionHard: {nodefs.available: 1%}\nclusterDNS: [3.3.3.3]\nauthentication: {webhook: {enabled: false}}\n`,
    };
    const { config } = await options(["--config=/k", "--config-dir=/d"], files);
    expect(pick(config, "evictionHard", "clusterDNS", "authentication")).toEqual({
      evictionHard: { "memory.available": "1Gi", "nodefs.available": "1%" },
      clusterDNS: ["3.3.3.3"],
      authentication: {
        x509: { clientCAFile: "" },
        webhook: { enabled: false, cacheTTL: 60_000 },
        anonymous: { enabled: false },
      },
    });
  });

  it("merge over the default thresholds of a file that has none", async () => {
    const files = { "/k": HEADER, "/d/a.conf": `${HEADER}evictionHard: {memory.available: 1Gi}\n` };
    const { config } = await options(["--config=/k", "--config-dir=/d"], files);
    expect(config.evictionHard).toEqual({
      "imagefs.available": "15%",
      "imagefs.inodesFree": "5%",
      "memory.available": "1Gi",
      "nodefs.available": "10%",
      "nodefs.inodesFree": "5%",
    });
  });

  it("bring a default back with null, and remove a gate so", async () => {
    const files = {
      "/k": `${HEADER}maxPods: 5\nfeatureGates: {EventedPLEG: true}\n`,
      "/d/a.conf": `${HEADER}maxPods: null\nfeatureGates: {EventedPLEG: null}\n`,
    };
    const { config, featureGates } = await options(["--config=/k", "--config-dir=/d"], files);
    expect([config.maxPods, config.featureGates, featureGates.get("EventedPLEG")]).toEqual([110, {}, false]);
  });

  it("that do not end in .conf are ignored with a note", async () => {
    const files = { "/d/a.conf": `${HEADER}maxPods: 5\n`, "/d/b.yaml": "rubbish: [" };
    const { config, warnings } = await options(["--config-dir=/d"], files);
    expect([config.maxPods, warnings]).toEqual([5, ["/d/b.yaml is ignored: drop-ins end in .conf"]]);
  });

  it("are read up to a number of characters in all", async () => {
    const MOST_EACH = MAX_DIRECTORY_CHARS / 8;
    const line = `${HEADER}maxPods: 5\n# `;
    const filled = line.padEnd(MOST_EACH, "x");
    const files = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`/d/${index}.conf`, filled]));
    expect((await options(["--config-dir=/d"], files)).config.maxPods).toBe(5);
    const why = `the files up to this one have more than ${MAX_DIRECTORY_CHARS} characters in all`;
    expect(await errors(["--config-dir=/d"], { ...files, "/d/8.conf": " ", "/d/9.conf": "" })).toEqual([
      `/d/8.conf: cannot be read: ${why}`,
      `/d/9.conf: cannot be read: ${why}`,
    ]);
  });

  it("need apiVersion and kind", async () => {
    expect(await errors(["--config-dir=/d"], { "/d/a.conf": "maxPods: 5\n" })).toEqual([
      "/d/a.conf:1: apiVersion: must be kubelet.config.k8s.io/v1beta1, but is missing",
      "/d/a.conf:1: kind: must be KubeletConfiguration, but is missing",
    ]);
  });
});

describe("files", () => {
  it("may be JSON, indented with tabs", async () => {
    const text =
      '{\n\t"apiVersion": "kubelet.config.k8s.io/v1beta1",\n\t"kind": "KubeletConfiguration",\n\t"maxPods": 5\n}\n';
    const { config } = await options(["--config=/k.json"], { "/k.json": text });
    expect(config.maxPods).toBe(5);
  });

  it("read yes and off as booleans and dates and times as text, as upstream does", async () => {
    const body = "failSwapOn: off\nrotateCertificates: yes\nproviderID: 12:30\nclusterDomain: 2026-01-01\n";
    const { config } = await options(["--config=/k"], { "/k": HEADER + body });
    expect(pick(config, "failSwapOn", "rotateCertificates", "providerID", "clusterDomain")).toEqual({
      failSwapOn: false,
      rotateCertificates: true,
      providerID: "12:30",
      clusterDomain: "2026-01-01",
    });
  });

  it.each<[string, readonly string[]]>([
    ["maxpods: 5\n", ["/k.yaml:3: maxpods: unknown field; did you mean maxPods?"]],
    ["wobble: 5\n", ["/k.yaml:3: wobble: unknown field"]],
    [
      "authentication:\n  webhook:\n    cacheTtl: 1m\n",
      ["/k.yaml:5: authentication.webhook.cacheTtl: unknown field; did you mean cacheTTL?"],
    ],
    ["maxPods: many\n", ['/k.yaml:3: maxPods: must be a whole number, got "many"']],
    ["maxPods: '5'\n", ['/k.yaml:3: maxPods: must be a whole number, got "5"']],
    ["maxPods: 2147483648\n", ["/k.yaml:3: maxPods: must be between -2147483648 and 2147483647, got 2147483648"]],
    [
      "podPidsLimit: 9223372036854775807\n",
      ["/k.yaml:3: podPidsLimit: must be between -9007199254740991 and 9007199254740991, got 9223372036854776000"],
    ],
    ["logging: {verbosity: -1}\n", ["/k.yaml:3: logging.verbosity: must be between 0 and 4294967295, got -1"]],
    ["failSwapOn: 1\n", ["/k.yaml:3: failSwapOn: must be true or false, got 1"]],
    ["clusterDomain: 1.5\n", ["/k.yaml:3: clusterDomain: must be a string, got 1.5"]],
    ["clusterDomain: no\n", ["/k.yaml:3: clusterDomain: must be a string, got false"]],
    [
      "syncFrequency: 60\n",
      ['/k.yaml:3: syncFrequency: must be a duration such as "1m30s", got 60; did you mean "60s"?'],
    ],
    ["syncFrequency: 1 minute\n", ['/k.yaml:3: syncFrequency: must be a duration such as "1m30s", got "1 minute"']],
    ["memoryThrottlingFactor: high\n", ['/k.yaml:3: memoryThrottlingFactor: must be a number, got "high"']],
    ["clusterDNS: 10.0.0.10\n", ['/k.yaml:3: clusterDNS: must be a list, got "10.0.0.10"']],
    ["clusterDNS:\n- 10.0.0.10\n- 5\n", ["/k.yaml:5: clusterDNS[1]: must be a string, got 5"]],
    ["tlsCurvePreferences: [x]\n", ['/k.yaml:3: tlsCurvePreferences[0]: must be a whole number, got "x"']],
    ["evictionHard: [a]\n", ["/k.yaml:3: evictionHard: must be a map, got a list"]],
    [
      "evictionHard:\n  memory.available: 5\n",
      ['/k.yaml:4: evictionHard["memory.available"]: must be a string, got 5'],
    ],
    [
      "evictionHard:\n  memory.available:\n",
      ['/k.yaml:4: evictionHard["memory.available"]: must be a string, got null'],
    ],
    [
      "featureGates: {EventedPLEG: maybe}\n",
      ['/k.yaml:3: featureGates.EventedPLEG: must be true or false, got "maybe"'],
    ],
    ["featureGates:\n  EventedPLEG: true\n  Wobble: true\n", ["/k.yaml:5: featureGates.Wobble: unknown feature gate"]],
    ["featureGates: {NodeSwap: false}\n", ["/k.yaml:3: featureGates.NodeSwap: cannot be false: it is locked to true"]],
    ["staticPodURLHeader: {Accept: json}\n", ['/k.yaml:3: staticPodURLHeader.Accept: must be a list, got "json"']],
    ["authentication: true\n", ["/k.yaml:3: authentication: must be a map, got true"]],
    ["registerWithTaints: [gpu]\n", ['/k.yaml:3: registerWithTaints[0]: must be a map, got "gpu"']],
    [
      "registerWithTaints:\n- key: a\n  effect: Never\n",
      ['/k.yaml:5: registerWithTaints[0].effect: must be one of NoSchedule, PreferNoSchedule, NoExecute, got "Never"'],
    ],
    [
      "reservedMemory:\n- numaNode: 0\n  limits: {memory: lots}\n",
      ['/k.yaml:5: reservedMemory[0].limits.memory: must be a quantity such as "100Mi", got "lots"'],
    ],
    ["maxPods: 1\nmaxPods: 2\n", ['/k.yaml:4: duplicate key "maxPods"']],
    [
      "clusterDNS: [1.1.1.1\nmaxPods: 2\n",
      ["/k.yaml:4: not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]"],
    ],
    ["---\nmaxPods: 2\n", ["/k.yaml:3: must hold one document only"]],
    ["port: 70000\n", ["/k.yaml:3: port: must be a port between 1 and 65535, got 70000"]],
    [
      "evictionSoft:\n  memory.available: 1Gi\n",
      ['/k.yaml:4: evictionSoft["memory.available"]: needs a grace period in evictionSoftGracePeriod'],
    ],
    ["systemCgroups: /a\n", ["/k.yaml:3: systemCgroups: needs cgroupRoot to be set"]],
  ])("%j is refused with file, line and reason", async (body, expected) => {
    expect(await inFile(body)).toEqual(expected);
  });

  it.each<[string, readonly string[]]>([
    ["", ["/k: the file is empty"]],
    ["# nothing\n", ["/k: the file is empty"]],
    ["- a\n", ["/k:1: must be a map of fields, got a list"]],
    [
      "apiVersion: v1\nkind: Pod\n",
      [
        '/k:1: apiVersion: must be kubelet.config.k8s.io/v1beta1, got "v1"',
        '/k:2: kind: must be KubeletConfiguration, got "Pod"',
      ],
    ],
  ])("%j is no configuration", async (text, expected) => {
    expect(await errors(["--config=/k"], { "/k": text })).toEqual(expected);
  });

  it("that multiply through aliases are refused", async () => {
    const levels = ["a: &a [x,x,x,x,x,x,x,x,x,x]"];
    for (const name of ["b", "c", "d", "e", "f"]) {
      const before = String.fromCharCode(name.charCodeAt(0) - 1);
      levels.push(`${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join(",")}]`);
    }
    expect(await errors(["--config=/k"], { "/k": `${HEADER}${levels.join("\n")}\n` })).toEqual([
      "/k:7: its aliases stand for more than 100000 values",
    ]);
  });

  it("that cannot be read are named", async () => {
    expect(await errors(["--config=/k", "--config-dir=/d"])).toEqual([
      "/k: cannot be read: no such file or directory",
      "--config-dir: /d cannot be listed: no such file or directory",
    ]);
  });
});

describe("errors", () => {
  it("of flags and all files come at once", async () => {
    const files = {
      "/k": `${HEADER}maxPods: x\nport: 0\neventBurst: -1\n`,
      "/d/a.conf": `${HEADER}healthzPort: 99999\nwobble: 1\n`,
    };
    expect(await errors(["--config=/k", "--config-dir=/d", "--registry-qps=-1", "--v=x", "--bogus"], files)).toEqual([
      "--bogus: unknown flag; see rxlet --help",
      '--v: must be a whole number, got "x"',
      "--registry-qps: must not be negative, got -1",
      '/k:3: maxPods: must be a whole number, got "x"',
      "/k:5: eventBurst: must not be negative, got -1",
      "/d/a.conf:3: healthzPort: must be 0 (off) or a port between 1 and 65535, got 99999",
      "/d/a.conf:4: wobble: unknown field",
    ]);
  });

  it("come in order of lines, from every check, and suggest the probable name", async () => {
    const body = [
      "containerLogMaxSize: 100MB",
      "failSwapOn: maybe",
      "podCIDR: nonsense",
      "kubeReserved: {memory: 1GB}",
      "maxPodz: 3",
      "evictionHard: {memory.available: 100 MB}",
      "clusterDNS: [10.0.0.1, nope]",
    ];
    expect(await errors(["--config=/k"], { "/k": `${HEADER}${body.join("\n")}\n` })).toEqual([
      '/k:3: containerLogMaxSize: must be a quantity other than 0 such as "10Mi", got "100MB"; did you mean 100M or 100Mi?',
      '/k:4: failSwapOn: must be true or false, got "maybe"',
      '/k:5: podCIDR: must be an address range such as 10.85.0.0/16, or an IPv4 and an IPv6 one with a comma, got "nonsense"',
      '/k:6: kubeReserved.memory: must be a quantity of 0 or more, got "1GB"; did you mean 1G or 1Gi?',
      "/k:7: maxPodz: unknown field; did you mean maxPods?",
      '/k:8: evictionHard["memory.available"]: must be a percentage or a quantity above 0, got "100 MB"; did you mean 100M or 100Mi?',
      '/k:9: clusterDNS[1]: must be an IP address, got "nope"',
    ]);
  });

  it("name the flag a bad value came from, and what is wrong inside it", async () => {
    const argv = ["--eviction-hard=memory<1Gi", "--feature-gates=NodeSwap=false", "--kube-reserved=cpu=-1"];
    expect(await errors(argv)).toEqual([
      "--feature-gates: featureGates.NodeSwap: cannot be false: it is locked to true",
      '--kube-reserved: kubeReserved.cpu: must be a quantity of 0 or more, got "-1"',
      "--eviction-hard: evictionHard.memory: unknown signal; the signals are memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree, containerfs.available, containerfs.inodesFree, pid.available, allocatableMemory.available",
    ]);
  });

  it("name the last file that set the value", async () => {
    const files = {
      "/k": `${HEADER}maxPods: 1\n`,
      "/d/a.conf": `${HEADER}\n\nmaxPods: -1\n`,
      "/d/b.conf": `${HEADER}port: 1\n`,
    };
    expect(await errors(["--config=/k", "--config-dir=/d"], files)).toEqual([
      "/d/a.conf:5: maxPods: must not be negative, got -1",
    ]);
  });

  it.each<[string, readonly string[]]>([
    [
      "--node-labels=a=b c",
      [
        '--node-labels: "a=b c": a label value consists of letters, digits, - _ . and starts and ends with a letter or digit',
      ],
    ],
    [
      "--node-labels=-=x",
      [
        '--node-labels: "-=x": a label key consists of letters, digits, - _ . and starts and ends with a letter or digit',
      ],
    ],
    ["--node-labels=node.kubernetes.io/x=y,kubernetes.io/os=linux,x.node.kubernetes.io/a=b", []],
    ["--node-ip=host", ['--node-ip: must be an IP address, got "host"']],
    ["--node-ip=10.0.0.1,::1", []],
    ["--node-ip=10.0.0.1,10.0.0.2", ["--node-ip: must be one address, or one IPv4 and one IPv6 address"]],
    ["--node-ip=10.0.0.1,::", ["--node-ip: 0.0.0.0 and :: must stand alone, without an address of the other family"]],
    ["--node-ip=::", []],
    ["--hostname-override=  ", ["--hostname-override: must not be blank"]],
    ["--cloud-provider=aws", [`--cloud-provider: must be empty or external, got "aws"`]],
    ["--cloud-provider=external", []],
    ["--cloud-metadata=ec2", ["--cloud-metadata: needs --kubeconfig, since a standalone node has no Node"]],
    ["--cloud-metadata=gce", [`--cloud-metadata: must be empty, ec2 or openstack, got "gce"`]],
    ["--cloud-metadata-url=http://192.0.2.1", ["--cloud-metadata-url: needs --cloud-metadata"]],
    [
      "--exit-on-lock-contention",
      ["--exit-on-lock-contention: cannot exit on lock file contention: no lock file specified"],
    ],
    ["--lock-file=/run/kubelet.lock", []],
  ])("of %j", async (argument, expected) => {
    expect(await errors([argument])).toEqual(expected);
  });

  it("refuse labels of the control plane's domains", async () => {
    expect(await errors(["--node-labels=node-role.kubernetes.io/worker=,k8s.io/a=b"])).toEqual([
      expect.stringMatching(/^--node-labels: "node-role\.kubernetes\.io\/worker=": a node may give itself labels/),
      expect.stringMatching(/^--node-labels: "k8s\.io\/a=b": a node may give itself labels/),
    ]);
  });
});

describe("bits of packet marks", () => {
  it("are those that a file sets, and differ", async () => {
    const body = "iptablesMasqueradeBit: 14\n";
    expect((await options(["--config=/k"], { "/k": HEADER + body })).markBits).toEqual({ masquerade: 14 });
    expect((await options([])).markBits).toEqual({});
    expect(await errors(["--config=/k"], { "/k": `${HEADER}${body}iptablesDropBit: 14\n` })).toEqual([
      "/k:4: iptablesDropBit: must differ from iptablesMasqueradeBit, got 14 for both",
    ]);
  });
});

describe("warnings", () => {
  it("name in one line what was set and has no effect, but not what is at its default", async () => {
    const body =
      "port: 10260\nmaxPods: 5\ncgroupDriver: systemd\nhairpinMode: promiscuous-bridge\ncontentType: application/cbor\nauthentication: {webhook: {cacheTTL: 1m}}\n";
    const { warnings } = await options(["--config=/k", "--housekeeping-interval=1s", "--cloud-provider="], {
      "/k": HEADER + body,
    });
    expect(warnings).toEqual([
      "settings without effect: contentType (requests to the API server are JSON, which V8 decodes about as fast as protobuf), --housekeeping-interval (figures are read when they are asked for)",
    ]);
  });

  it("name deprecated flags in one line", async () => {
    const { warnings } = await options(["--max-pods=5", "--sync-frequency=1m", "--node-labels=a=b", "-v", "2"]);
    expect(warnings).toEqual([
      "deprecated flags in use: --sync-frequency (set syncFrequency in the --config file), --max-pods (set maxPods in the --config file)",
    ]);
  });

  it("are absent when there is nothing to say", async () => {
    expect(
      (await options(["--config=/k", "--root-dir=/r"], { "/k": `${HEADER}staticPodPath: /m\n` })).warnings,
    ).toEqual([]);
  });
});
