/** The plugins of the Container Network Interface project, on a machine's network of the test's own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CniNetwork, createCniNetwork } from "../../src/cni/cniNetwork.ts";
import { sandboxOf } from "../support/fakeCni.ts";
import { mustSkip } from "../support/mustSkip.ts";
import {
  missingForIpTables,
  type NetworkNamespace,
  openNetworkNamespace,
  scriptAt,
} from "../support/networkNamespace.ts";
import { temporaryDirectory } from "../support/temporaryDirectory.ts";

const PLUGINS = "/usr/lib/cni";
const NAMES = ["bridge", "host-local", "loopback", "portmap"];
const MISSING = [
  ...missingForIpTables("nft"),
  ...NAMES.map((name) => join(PLUGINS, name)).filter((path) => !existsSync(path)),
];
const TITLE = "plugins of the CNI project";

const CONFIG = (dataDir: string) => ({
  cniVersion: "1.0.0",
  name: "podnet",
  plugins: [
    {
      type: "bridge",
      bridge: "cni0",
      isGateway: true,
      ipMasq: true,
      ipam: { type: "host-local", dataDir, ranges: [[{ subnet: "10.88.0.0/16" }]], routes: [{ dst: "0.0.0.0/0" }] },
    },
    { type: "portmap", capabilities: { portMappings: true } },
  ],
});

/** Answers a connection of the namespace to this address with what the server there says. */
async function askedFrom(client: NetworkNamespace, address: string, port: number): Promise<string> {
  const program = `require("net").connect(${port}, "${address}").on("data", (text) => process.stdout.write(text))`;
  const [first = "", ...words] = [...client.enter, process.execPath, "-e", program];
  const child = spawn(first, words, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await once(child, "close");
  return text;
}

describe.skipIf(mustSkip(TITLE, MISSING))(TITLE, () => {
  const placeOf = temporaryDirectory();
  let machine: NetworkNamespace;
  let pod: NetworkNamespace;
  let network: CniNetwork;
  let dataDir: string;

  beforeEach(async () => {
    const place = placeOf();
    [machine, pod] = await Promise.all([openNetworkNamespace(), openNetworkNamespace()]);
    pod.inside("ip", "link", "set", "lo", "down");
    dataDir = join(place, "addresses");
    const [confDir, bin] = [join(place, "net.d"), join(place, "bin")];
    for (const directory of [confDir, bin]) mkdirSync(directory);
    for (const name of NAMES) scriptAt(join(bin, name), `exec ${machine.enter.join(" ")} ${join(PLUGINS, name)}`);
    writeFileSync(join(confDir, "10-podnet.conflist"), JSON.stringify(CONFIG(dataDir)));
    const log = { info: () => undefined, warn: () => undefined };
    network = await createCniNetwork({ confDir, binDirs: [bin], cacheDir: join(place, "cache"), log });
  });
  afterEach(async () => {
    network.close();
    await Promise.all([machine.close(), pod.close()]);
  });

  const netns = (): string => pod.enter[1]?.slice("--net=".length) ?? "";
  const addresses = (): readonly string[] =>
    existsSync(join(dataDir, "podnet"))
      ? readdirSync(join(dataDir, "podnet")).filter((name) => /^[\d.]+$/.test(name))
      : [];
  const veths = (): string => machine.inside("ip", "-o", "link", "show", "type", "veth");
  const portRules = (): readonly string[] =>
    machine
      .inside("iptables-nft-save", "-t", "nat")
      .split("\n")
      .filter((line) => line.includes("10.88.0.2"));

  it("give a sandbox an address, a host port and a loopback interface, and take all of it back", async () => {
    const ports = [{ protocol: "tcp" as const, hostPort: 18_080, containerPort: 8080, hostIp: "" }];
    const sandbox = sandboxOf("a".repeat(64), { netns: netns(), portMappings: ports });
    expect(network.status()).toEqual({ ready: true });
    expect(await network.add(sandbox)).toEqual({ ok: true, value: { ips: ["10.88.0.2"] } });
    expect(pod.inside("ip", "-o", "-4", "addr", "show", "dev", "eth0")).toContain(" 10.88.0.2/16 ");
    expect(pod.inside("ip", "-o", "link", "show", "dev", "lo")).toContain("LOOPBACK,UP");
    expect(addresses()).toEqual(["10.88.0.2"]);

    const serve = 'require("net").createServer((it) => it.end("hello")).listen(8080, () => console.log("ready"))';
    const [first = "", ...words] = [...pod.enter, process.execPath, "-e", serve];
    const server = spawn(first, words, { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(server, "exit");
    await once(server.stdout, "data");
    try {
      expect(await askedFrom(machine, "10.88.0.2", 8080)).toBe("hello");
      expect(await askedFrom(machine, "10.88.0.1", 18_080)).toBe("hello");
    } finally {
      server.kill();
      await ended;
    }

    expect(await network.remove(sandbox)).toEqual({ ok: true, value: undefined });
    expect([veths(), addresses(), portRules()]).toEqual(["", [], []]);
    expect(await network.remove(sandbox)).toEqual({ ok: true, value: undefined });
  });

  it("find an address that is gone", async () => {
    const sandbox = sandboxOf("b".repeat(64), { netns: netns() });
    expect((await network.add(sandbox)).ok).toBe(true);
    expect(await network.check(sandbox)).toEqual({ ok: true, value: undefined });
    pod.inside("ip", "addr", "flush", "dev", "eth0");
    expect(await network.check(sandbox)).toMatchObject({
      ok: false,
      error: {
        message: expect.stringMatching(/^plugin "bridge" of network "podnet": CHECK: .*10\.88\.0\.2/) as string,
      },
    });
  });

  it("release the address of a sandbox that was killed with its process", async () => {
    const sandbox = sandboxOf("c".repeat(64), { netns: netns() });
    expect((await network.add(sandbox)).ok).toBe(true);
    await pod.close();
    pod = await openNetworkNamespace();
    expect(await network.remove(sandbox)).toEqual({ ok: true, value: undefined });
    expect(addresses()).toEqual([]);
  });

  it("leave no address behind where the namespace is none", async () => {
    const file = join(placeOf(), "file");
    writeFileSync(file, "");
    expect(await network.add(sandboxOf("d".repeat(64), { netns: file }))).toMatchObject({
      ok: false,
      error: { message: expect.stringMatching(/^plugin "loopback" of network "cni-loopback": ADD: /) as string },
    });
    expect([veths(), addresses()]).toEqual(["", []]);
  });
});
