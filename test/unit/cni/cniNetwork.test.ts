import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CniNetwork, type CniOptions, createCniNetwork } from "../../../src/cni/cniNetwork.ts";
import { createFakeCni, type FakeCni, resultWith, sandboxOf } from "../../support/fakeCni.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

const placeOf = temporaryDirectory();
let fake: FakeCni;
const opened: CniNetwork[] = [];
const ADDED = `echo '${resultWith("10.1.0.5/16")}'`;

beforeEach(() => {
  fake = createFakeCni(placeOf());
});
afterEach(() => {
  for (const network of opened.splice(0)) network.close();
});

const open = async (more: Partial<CniOptions> = {}): Promise<CniNetwork> => {
  const network = await createCniNetwork({ ...fake.options, ...more });
  opened.push(network);
  return network;
};

const chain = (cniVersion = "1.0.0", types: readonly string[] = ["first", "second"]): object => ({
  cniVersion,
  name: "net",
  plugins: types.map((type) => ({ type, capabilities: { portMappings: true } })),
});

describe("a sandbox", () => {
  it("joins the loopback network and each plugin in turn, and leaves in reverse", async () => {
    fake.plugin("first", `[ "$CNI_COMMAND" != ADD ] || ${ADDED}`);
    fake.plugin("second", `[ "$CNI_COMMAND" != ADD ] || echo '${resultWith("10.1.0.6/16")}'`);
    fake.conf("10-net.conflist", chain());
    const network = await open();
    const ports = [{ protocol: "tcp" as const, hostPort: 80, containerPort: 8080, hostIp: "" }];
    const sandbox = sandboxOf("abc", { portMappings: ports });
    expect(await network.add(sandbox)).toEqual({ ok: true, value: { ips: ["10.1.0.6"] } });
    expect(fake.calls()).toEqual(["ADD loopback lo", "ADD first eth0", "ADD second eth0"]);
    expect(fake.input("ADD", "first")).toEqual({
      type: "first",
      name: "net",
      cniVersion: "1.0.0",
      capabilities: { portMappings: true },
      runtimeConfig: { portMappings: [{ hostPort: 80, containerPort: 8080, protocol: "tcp", hostIP: "" }] },
    });
    expect(fake.input("ADD", "second")["prevResult"]).toEqual(JSON.parse(resultWith("10.1.0.5/16")));
    expect(fake.environment("ADD", "second")).toMatchObject({
      CNI_CONTAINERID: "abc",
      CNI_NETNS: "/proc/self/ns/net",
      CNI_ARGS:
        "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_INFRA_CONTAINER_ID=abc;K8S_POD_UID=u-1",
    });
    expect(fake.attachments()).toEqual(["cni-loopback-abc-lo", "net-abc-eth0"]);

    expect(await network.check(sandbox)).toEqual({ ok: true, value: undefined });
    expect(fake.calls().slice(3)).toEqual(["CHECK first eth0", "CHECK second eth0"]);
    expect(fake.input("CHECK", "first")["prevResult"]).toEqual(JSON.parse(resultWith("10.1.0.6/16")));

    expect(await network.remove(sandbox)).toEqual({ ok: true, value: undefined });
    expect(fake.calls().slice(5)).toEqual(["DEL second eth0", "DEL first eth0", "DEL loopback lo"]);
    expect(fake.input("DEL", "first")).toMatchObject({
      prevResult: JSON.parse(resultWith("10.1.0.6/16")) as object,
      runtimeConfig: { portMappings: [{ hostPort: 80 }] },
    });
    expect(fake.attachments()).toEqual([]);
  });

  it("leaves the network that it joined, after the configuration has changed", async () => {
    fake.plugin("first", `[ "$CNI_COMMAND" != ADD ] || ${ADDED}`);
    fake.plugin("third", "exit 1");
    fake.conf("10-net.conflist", chain("1.0.0", ["first"]));
    const before = await open();
    expect((await before.add(sandboxOf("abc"))).ok).toBe(true);
    before.close();
    fake.conf("10-net.conflist", chain("1.0.0", ["third"]));
    const after = await open();
    // The process of the sandbox has ended, so its namespace is gone.
    expect((await after.remove(sandboxOf("abc", { netns: "/proc/self/ns/none" }))).ok).toBe(true);
    expect(fake.calls().slice(2)).toEqual(["DEL first eth0", "DEL loopback lo"]);
    expect(fake.environment("DEL", "first")).toMatchObject({ CNI_NETNS: "" });
    expect(fake.attachments()).toEqual([]);
  });

  it("without a record leaves the present network", async () => {
    fake.plugin("first", "true");
    fake.conf("10-net.conflist", chain("1.0.0", ["first"]));
    const network = await open();
    expect((await network.remove(sandboxOf("abc", { netns: "" }))).ok).toBe(true);
    expect(fake.calls()).toEqual(["DEL first eth0"]);
    expect(await network.check(sandboxOf("abc"))).toMatchObject({ ok: false, error: { code: "NotFound" } });
  });

  it("stays recorded until DEL succeeds", async () => {
    fake.plugin("first", `[ "$CNI_COMMAND" = ADD ] || exit 3; ${ADDED}`);
    fake.conf("10-net.conflist", chain("1.0.0", ["first"]));
    const network = await open();
    expect((await network.add(sandboxOf("abc"))).ok).toBe(true);
    expect(await network.remove(sandboxOf("abc"))).toMatchObject({
      ok: false,
      error: { message: 'plugin "first" of network "net": DEL: exit status 3' },
    });
    expect(fake.attachments()).toEqual(["cni-loopback-abc-lo", "net-abc-eth0"]);
    fake.plugin("first", "true");
    expect((await network.remove(sandboxOf("abc"))).ok).toBe(true);
    expect(fake.attachments()).toEqual([]);
  });

  it("does not leave before it has joined", async () => {
    const gate = join(placeOf(), "gate");
    fake.plugin("first", `[ "$CNI_COMMAND" != ADD ] || { while [ ! -e ${gate} ]; do sleep 0.02; done; ${ADDED}; }`);
    fake.conf("10-net.conflist", chain("1.0.0", ["first"]));
    const network = await open();
    const added = network.add(sandboxOf("abc"));
    await waitFor("the ADD", () => fake.calls().includes("ADD first eth0"));
    const removed = network.remove(sandboxOf("abc"));
    writeFileSync(gate, "");
    expect([(await added).ok, (await removed).ok]).toEqual([true, true]);
    expect(fake.calls().slice(1)).toEqual(["ADD first eth0", "DEL first eth0", "DEL loopback lo"]);
  });

  it("whose names would become other arguments is refused, and one without a namespace cannot join", async () => {
    fake.plugin("first", ADDED);
    fake.conf("10-net.conflist", chain("1.0.0", ["first"]));
    const network = await open();
    expect(await network.add(sandboxOf("abc", { name: "a;b" }))).toMatchObject({ error: { code: "InvalidArgument" } });
    expect(await network.remove(sandboxOf("../x"))).toMatchObject({ error: { code: "InvalidArgument" } });
    expect(await network.add(sandboxOf("abc", { netns: "" }))).toMatchObject({
      error: { message: "sandbox abc has no network namespace" },
    });
    expect(fake.calls()).toEqual([]);
  });
});

describe("a plugin that fails at ADD is named, and what it left is undone:", () => {
  const hanging = (pid: string): string => `[ "$CNI_COMMAND" != ADD ] || { sleep 1000 & echo $! > ${pid}; wait; }`;
  it.each<[string, string, string, string]>([
    [
      "it reports a failure",
      `echo '{"code":7,"msg":"no range","details":"set one"}'; exit 1`,
      "Io",
      "no range; set one",
    ],
    ["it asks for another try", `echo '{"code":11,"msg":"later"}'; exit 1`, "Unavailable", "later"],
    ["it dies in silence", "exit 7", "Io", "exit status 7"],
    ["it dies with words", "echo cannot open >&2; exit 7", "Io", "exit status 7: cannot open"],
    ["it is killed", "kill -9 $$", "Io", "signal: SIGKILL"],
    ["it prints nothing", "true", "Io", "it printed no JSON: nothing"],
    ["it prints garbage", "echo hello", "Io", "it printed no JSON: hello"],
    [
      "it prints JSON that nests too deep",
      "printf '%1000s' '' | tr ' ' '['",
      "Io",
      `it printed no JSON: ${"[".repeat(500)}`,
    ],
    [
      "it prints a wrong result",
      `echo '{"ips":[{"address":"x"}]}'`,
      "Io",
      'its result is wrong: address is "x", not an IP address with the length of its network',
    ],
    ["it floods", "head -c 1048577 /dev/zero; sleep 1000", "Io", "it printed more than 1048576 bytes and was killed"],
  ])("%s", async (_, body, code, why) => {
    fake.plugin("first", `[ "$CNI_COMMAND" != ADD ] || ${ADDED}`);
    fake.plugin("second", `if [ "$CNI_COMMAND" = ADD ]; then ${body}; fi`);
    fake.conf("10-net.conflist", chain());
    const network = await open();
    const message = `plugin "second" of network "net": ADD: ${why}`;
    expect(await network.add(sandboxOf("abc"))).toMatchObject({ ok: false, error: { code, message } });
    expect(fake.calls().slice(3)).toEqual(["DEL second eth0", "DEL first eth0", "DEL loopback lo"]);
    expect(fake.attachments()).toEqual([]);
  });

  it("it hangs, and is killed with its children", async () => {
    const pid = join(placeOf(), "pid");
    fake.plugin("first", hanging(pid));
    fake.conf("10-net.conflist", chain("1.0.0", ["first"]));
    const network = await open({ deadlineMs: 2_000 });
    expect(await network.add(sandboxOf("abc"))).toMatchObject({
      ok: false,
      error: {
        code: "DeadlineExceeded",
        message: 'plugin "first" of network "net": ADD: it did not end within 2000 ms and was killed',
      },
    });
    const child = readFileSync(pid, "utf8").trim();
    await waitFor("the end of the child", () => isGone(child));
    expect(fake.attachments()).toEqual([]);
  });

  it("it runs when rxlet stops", async () => {
    const pid = join(placeOf(), "pid");
    fake.plugin("first", hanging(pid));
    fake.conf("10-net.conflist", chain("1.0.0", ["first"]));
    const network = await open();
    const added = network.add(sandboxOf("abc"));
    await waitFor("the ADD", () => existsSync(pid) && readFileSync(pid, "utf8") !== "");
    network.close();
    expect(await added).toMatchObject({ ok: false, error: { code: "Cancelled" } });
    await waitFor("the end of the child", () => isGone(readFileSync(pid, "utf8").trim()));
    // The next process finds the record and removes the rest.
    expect(fake.attachments()).toEqual(["cni-loopback-abc-lo", "net-abc-eth0"]);
  });

  it("it gives no address", async () => {
    fake.plugin("first", "echo '{}'");
    fake.conf("10-net.conflist", chain("1.0.0", ["first"]));
    const network = await open();
    expect(await network.add(sandboxOf("abc"))).toMatchObject({
      error: { message: 'network "net" gave sandbox abc no IP address' },
    });
    expect(fake.attachments()).toEqual([]);
  });

  it("it is missing, is no program, or its attachment cannot be written", async () => {
    const file = fake.plugin("first", ADDED);
    fake.conf("10-net.conflist", chain("1.0.0", ["first"]));
    const network = await open();
    chmodSync(file, 0o644);
    expect(await network.add(sandboxOf("abc"))).toMatchObject({
      error: { message: `plugin "first" of network "net": ADD: ${file} cannot be started: EACCES` },
    });
    rmSync(file);
    expect(await network.add(sandboxOf("abd"))).toMatchObject({
      error: {
        code: "NotFound",
        message: `plugin "first" of network "net": ADD: there is no such program in ${fake.options.binDirs.join(", ")}`,
      },
    });
    rmSync(fake.options.cacheDir, { recursive: true });
    writeFileSync(fake.options.cacheDir, "");
    expect(await network.add(sandboxOf("abe"))).toMatchObject({
      ok: false,
      error: { message: `cannot write ${fake.options.cacheDir}/results/cni-loopback-abe-lo: ENOTDIR` },
    });
  });
});

const isGone = (pid: string): boolean => {
  try {
    return / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return true;
  }
};

describe("a program", () => {
  it("that is being written is started again", async () => {
    const file = fake.plugin("first", `[ "$CNI_COMMAND" != ADD ] || ${ADDED}`);
    fake.conf("10-net.conflist", chain("1.0.0", ["first"]));
    const network = await open({ busyPauseMs: 1_000 });
    const writer = openSync(file, "r+");
    const isRefused = spawnSync(file).error !== undefined;
    const added = network.add(sandboxOf("abc"));
    await waitFor("the first plugin", () => fake.calls().includes("ADD loopback lo"));
    // Linux 6.11 and 6.12 start such a program at once.
    if (isRefused) {
      const other = await open({ busyPauseMs: 1, cacheDir: join(placeOf(), "other") });
      expect(other.status().message).toBe("cni config uninitialized");
      expect(fake.lines.at(-1)?.[1]).toMatchObject({
        reason: `plugin "first" of network "net": VERSION: ${file} cannot be started: ETXTBSY`,
      });
    }
    closeSync(writer);
    expect((await added).ok).toBe(true);
  });

  it("that leaves a daemon with its output ends all the same", async () => {
    const pid = join(placeOf(), "pid");
    fake.plugin("first", `[ "$CNI_COMMAND" != ADD ] || { sleep 1000 & echo $! > ${pid}; ${ADDED}; }`);
    fake.conf("10-net.conflist", chain("1.0.0", ["first"]));
    const network = await open();
    expect(await network.add(sandboxOf("abc"))).toEqual({ ok: true, value: { ips: ["10.1.0.5"] } });
    const daemon = Number(readFileSync(pid, "utf8"));
    expect(process.kill(daemon, 0)).toBe(true);
    process.kill(daemon);
  });
});

describe("the configuration", () => {
  const isReady = (network: CniNetwork) => () => network.status().ready;

  it("is the first valid file by name, and each fault is logged once", async () => {
    fake.plugin("first", ADDED);
    fake.plugin("old", "true", `echo '{"cniVersion":"0.2.0"}'`);
    fake.conf("00-garbage.conf", "{");
    fake.conf("01-list.json", chain());
    fake.conf("02-old.conflist", chain("1.0.0", ["old"]));
    fake.conf("03-none.conflist", chain("1.0.0", ["none"]));
    fake.conf("04-other.txt", chain("1.0.0", ["first"]));
    fake.conf("10-one.conf", { cniVersion: "0.4.0", name: "one", type: "first" });
    fake.conf("20-two.conflist", chain("1.0.0", ["first"]));
    mkdirSync(join(fake.options.confDir, "05-directory.conf"));
    const network = await open();
    expect(network.status()).toEqual({ ready: true });
    const passed = (file: string, reason: string) => [
      "Passing over a network configuration",
      { path: join(fake.options.confDir, file), reason },
    ];
    const { binDirs } = fake.options;
    const expected = [
      passed("00-garbage.conf", "it is not a JSON object"),
      passed("01-list.json", "it has no type; a list of plugins must be in a .conflist file"),
      passed("02-old.conflist", 'plugin "old" does not support version 1.0.0'),
      passed(
        "03-none.conflist",
        `plugin "none" of network "net": VERSION: there is no such program in ${binDirs.join(", ")}`,
      ),
      [
        "Using a network configuration",
        { path: join(fake.options.confDir, "10-one.conf"), network: "one", cniVersion: "0.4.0", plugins: "first" },
      ],
    ];
    expect(fake.lines).toEqual(expected);
    expect((await network.add(sandboxOf("abc"))).ok).toBe(true);
    expect(fake.lines).toEqual(expected);
    expect(fake.input("ADD", "first")).toMatchObject({ name: "one", cniVersion: "0.4.0" });
  });

  it("may be missing at first, comes with a later file, and stays while no file is valid", async () => {
    fake.plugin("first", `[ "$CNI_COMMAND" != ADD ] || ${ADDED}`);
    const network = await open();
    expect(network.status()).toEqual({
      ready: false,
      reason: "NetworkPluginNotReady",
      message: "cni config uninitialized",
    });
    expect(await network.add(sandboxOf("abc"))).toMatchObject({
      ok: false,
      error: { code: "Unavailable", reason: "NetworkPluginNotReady", message: "cni config uninitialized" },
    });
    expect(await network.remove(sandboxOf("abc"))).toEqual({ ok: true, value: undefined });
    fake.conf("10-net.conflist", chain("1.0.0", ["first"]));
    await waitFor("the configuration", isReady(network));
    rmSync(join(fake.options.confDir, "10-net.conflist"));
    expect((await network.add(sandboxOf("abc"))).ok).toBe(true);
    fake.conf("00-other.conf", { cniVersion: "1.0.0", name: "other", type: "first" });
    expect((await network.add(sandboxOf("abd"))).ok).toBe(true);
    expect(fake.attachments()).toContain("other-abd-eth0");
  });

  it("is used once its plugin is installed", async () => {
    fake.conf("10-net.conflist", chain("1.0.0", ["first"]));
    const network = await open();
    expect(network.status().ready).toBe(false);
    fake.plugin("first", ADDED);
    await waitFor("the plugin", isReady(network));
  });

  it("takes further plugins from a directory with its name", async () => {
    fake.plugin("first", ADDED);
    fake.plugin("second", ADDED);
    fake.conf("10-net.conflist", chain("1.0.0", ["first"]));
    mkdirSync(join(fake.options.confDir, "net"));
    fake.conf("net/1.conf", { type: "second" });
    fake.conf("net/2.txt", "{");
    const network = await open();
    expect((await network.add(sandboxOf("abc"))).ok).toBe(true);
    expect(fake.calls()).toEqual(["ADD loopback lo", "ADD first eth0", "ADD second eth0"]);
    fake.conf("net/3.conf", "{");
    const other = await open();
    expect(other.status().ready).toBe(false);
    expect(fake.lines.at(-1)?.[1]).toMatchObject({
      reason: `${join(fake.options.confDir, "net/3.conf")}: it is not a JSON object`,
    });
  });

  it("with ranges needs the pod range of the node, of which the first stays", async () => {
    fake.plugin("first", ADDED);
    fake.conf("10-net.conf", { cniVersion: "1.0.0", name: "net", type: "first", capabilities: { ipRanges: true } });
    const network = await open();
    expect(network.status().message).toBe("cni config needs ipRanges but no PodCIDR set");
    expect((await network.add(sandboxOf("abc"))).ok).toBe(false);
    network.updatePodCidr("");
    network.updatePodCidr("10.5.0.0/24");
    network.updatePodCidr("10.6.0.0/24");
    expect(network.status()).toEqual({ ready: true });
    expect((await network.add(sandboxOf("abc"))).ok).toBe(true);
    expect(fake.input("ADD", "first")["runtimeConfig"]).toEqual({ ipRanges: [[{ subnet: "10.5.0.0/24" }]] });
  });

  it("of version 1.1.0 asks its plugins for their status", async () => {
    const away = join(placeOf(), "away");
    writeFileSync(away, "");
    const status = `if [ "$CNI_COMMAND" = STATUS ] && [ -e ${away} ]; then echo '{"code":50,"msg":"starting"}'; exit 1; fi`;
    fake.plugin("first", status);
    fake.conf("10-net.conflist", chain("1.1.0", ["first"]));
    const network = await open();
    expect(network.status()).toEqual({
      ready: false,
      reason: "NetworkPluginNotReady",
      message: 'plugin "first" of network "net": STATUS: starting',
    });
    rmSync(away);
    await waitFor("the plugin", isReady(network));
  });
});

describe("leftovers of a process that was killed", () => {
  it("are removed where their sandbox is gone, with the configuration of their ADD", async () => {
    fake.plugin("first", `[ "$CNI_COMMAND" != ADD ] || ${ADDED}`);
    fake.plugin("second", `[ "$CNI_COMMAND" != ADD ] || ${ADDED}`);
    fake.conf("10-net.conflist", chain("1.0.0", ["first"]));
    const before = await open();
    for (const id of ["gone", "live"]) expect((await before.add(sandboxOf(id))).ok).toBe(true);
    const foreign = { kind: "cniCacheV1", containerId: "foreign", config: "", ifName: "eth0", networkName: "net" };
    const results = join(fake.options.cacheDir, "results");
    // An attachment of another runtime, one whose ADD had not ended, and one that was being written.
    writeFileSync(join(results, "net-foreign-eth0"), JSON.stringify({ ...foreign, netns: placeOf() }));
    const begun = JSON.parse(readFileSync(join(results, "net-gone-eth0"), "utf8")) as Record<string, unknown>;
    delete begun["result"];
    writeFileSync(join(results, "net-begun-eth0"), JSON.stringify({ ...begun, containerId: "begun" }));
    writeFileSync(join(results, "net-other-eth0.tmp"), "{");
    before.close();
    fake.conf("10-net.conflist", chain("1.1.0", ["second"]));
    const after = await open();
    expect((await after.add(sandboxOf("new"))).ok).toBe(true);
    const count = fake.calls().length;
    await after.sweep(new Set(["live"]));
    expect(fake.calls().slice(count)).toEqual(["DEL first eth0", "DEL loopback lo", "DEL first eth0", "GC second "]);
    expect(fake.environment("DEL", "first")).toMatchObject({ CNI_NETNS: "" });
    expect(fake.attachments()).toEqual([
      "cni-loopback-live-lo",
      "cni-loopback-new-lo",
      "net-foreign-eth0",
      "net-live-eth0",
      "net-new-eth0",
    ]);
    expect(fake.input("GC", "second")["cni.dev/valid-attachments"]).toEqual([
      { containerID: "foreign", ifname: "eth0" },
      { containerID: "live", ifname: "eth0" },
      { containerID: "new", ifname: "eth0" },
    ]);
  });
});

describe("garbage collection by plugins", () => {
  const waitsFor = (gate: string): string => `while [ ! -e ${gate} ]; do sleep 0.02; done`;

  it("runs beside no ADD, and names each sandbox that joined before", async () => {
    const [collects, joins, overlap] = ["collects", "joins", "overlap"].map((name) => join(placeOf(), name));
    // Each side waits a while for the other one, which is not to come before its end.
    const seesOther = (other = ""): string =>
      `n=0; while [ ! -e ${other} ] && [ $n -lt 25 ]; do sleep 0.02; n=$((n+1)); done; [ ! -e ${other} ] || touch ${overlap}`;
    fake.plugin(
      "first",
      `if [ "$CNI_COMMAND $CNI_CONTAINERID" = "ADD abc" ]; then ${seesOther(collects)}; fi
if [ "$CNI_COMMAND $CNI_CONTAINERID" = "ADD abd" ]; then touch ${joins}; fi
if [ "$CNI_COMMAND" = GC ]; then touch ${collects}; ${seesOther(joins)}; fi
[ "$CNI_COMMAND" != ADD ] || ${ADDED}`,
    );
    fake.conf("10-net.conflist", chain("1.1.0", ["first"]));
    const network = await open({ gcWaitMs: 60_000, gcMs: 60_000 });
    const added = network.add(sandboxOf("abc"));
    await waitFor("the ADD", () => fake.calls().includes("ADD first eth0"));
    const swept = network.sweep(new Set(["abc", "abd"]));
    expect((await added).ok).toBe(true);
    await waitFor("the collection", () => fake.calls().includes("GC first "));
    const later = network.add(sandboxOf("abd"));
    expect(await swept).toBe(true);
    expect((await later).ok).toBe(true);
    expect(existsSync(overlap ?? "")).toBe(false);
    expect(fake.input("GC", "first")["cni.dev/valid-attachments"]).toEqual([{ containerID: "abc", ifname: "eth0" }]);
  });

  it("is left out while an ADD hangs, and other sandboxes join", async () => {
    const gate = join(placeOf(), "gate");
    fake.plugin(
      "first",
      `if [ "$CNI_COMMAND $CNI_CONTAINERID" = "ADD abc" ]; then ${waitsFor(gate)}; fi
[ "$CNI_COMMAND" != ADD ] || ${ADDED}`,
    );
    fake.conf("10-net.conflist", chain("1.1.0", ["first"]));
    const network = await open({ gcWaitMs: 100 });
    const hanging = network.add(sandboxOf("abc"));
    await waitFor("the ADD", () => fake.calls().includes("ADD first eth0"));
    const swept = network.sweep(new Set(["abc", "abd"]));
    expect((await network.add(sandboxOf("abd"))).ok).toBe(true);
    expect(await swept).toBe(false);
    expect(fake.calls().filter((call) => call.startsWith("GC"))).toEqual([]);
    expect(fake.lines.at(-1)).toEqual([
      "Plugins remove no leftovers now: a sandbox joins or leaves a network for long",
    ]);
    writeFileSync(gate, "");
    expect((await hanging).ok).toBe(true);
  });

  it("is killed when it hangs, and other sandboxes join", async () => {
    fake.plugin("first", `[ "$CNI_COMMAND" != GC ] || sleep 1000; [ "$CNI_COMMAND" != ADD ] || ${ADDED}`);
    fake.conf("10-net.conflist", chain("1.1.0", ["first"]));
    const network = await open({ gcMs: 300 });
    const swept = network.sweep(new Set());
    await waitFor("the collection", () => fake.calls().includes("GC first "));
    expect((await network.add(sandboxOf("abd"))).ok).toBe(true);
    await swept;
    expect(fake.lines.at(-1)?.[1]).toMatchObject({
      error: { message: 'plugin "first" of network "net": GC: it did not end within 300 ms and was killed' },
    });
  });
});
