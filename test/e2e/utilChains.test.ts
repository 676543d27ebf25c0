/** A daemon in a network of its own keeps its chains in iptables, on both back ends, and follows the network's addresses. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { BUILT_MAIN } from "../support/builtProgram.ts";
import { type LogEntry, privateKernelFlags } from "../support/daemon.ts";
import { mustSkip } from "../support/mustSkip.ts";
import {
  type Backend,
  ipTablesFolder,
  kubeletRules,
  missingForIpTables,
  type NetworkNamespace,
  openNetworkNamespace,
} from "../support/networkNamespace.ts";
import { waitFor } from "../support/waitFor.ts";
import { startRuntime, temporaryDir } from "./embeddedRuntimeSetup.ts";

/** A look at the canary each minute, and room for a busy machine. */
const RESTORED_MS = 90_000;

const CANARIES = ["filter", "mangle", "nat"].map((table) => `${table} :KUBE-KUBELET-CANARY -`);
const HINT = "mangle :KUBE-IPTABLES-HINT -";
const FIREWALL = ["filter :KUBE-FIREWALL -", "filter -A INPUT -j KUBE-FIREWALL", "filter -A OUTPUT -j KUBE-FIREWALL"];
const MARTIANS =
  "filter -A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment " +
  '"block incoming localnet connections" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP';
const MARKS = [
  "nat :KUBE-MARK-DROP -",
  "nat :KUBE-MARK-MASQ -",
  "nat :KUBE-POSTROUTING -",
  "nat -A KUBE-MARK-DROP -j MARK --set-xmark 0x8000/0x8000",
  "nat -A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000",
  'nat -A POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING',
  "nat -A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN",
  "nat -A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0",
  'nat -A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE ' +
    "--random-fully",
];
const DROP =
  'filter -A KUBE-FIREWALL -m comment --comment "kubernetes firewall for dropping marked packets" -m mark ' +
  "--mark 0x8000/0x8000 -j DROP";

interface Case {
  readonly backend: Backend;
  readonly config: Readonly<Record<string, unknown>>;
  readonly IPv4: readonly string[];
  readonly IPv6: readonly string[];
}

const CASES: readonly Case[] = [
  { backend: "nft", config: {}, IPv4: [HINT, ...CANARIES, ...FIREWALL, MARTIANS], IPv6: [HINT, ...CANARIES] },
  {
    backend: "legacy",
    config: { iptablesMasqueradeBit: 14, iptablesDropBit: 15 },
    IPv4: [HINT, ...CANARIES, ...FIREWALL, MARTIANS, DROP, ...MARKS],
    IPv6: [HINT, ...CANARIES, ...FIREWALL, DROP, ...MARKS],
  },
];

/** Starts a daemon inside the network; its programs of iptables are those in `programs`. */
async function daemonIn(network: NetworkNamespace, dir: string, programs: string, config: Case["config"]) {
  const { socketPath } = await startRuntime(join(dir, "runtime"));
  const [configFile, logFile] = [join(dir, "config.json"), join(dir, "rxlet.log")];
  const manifests = join(dir, "manifests");
  await mkdir(manifests);
  const document = {
    ...{ apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" },
    ...{ enableServer: false, healthzPort: 0, containerRuntimeEndpoint: `unix://${socketPath}` },
    ...{ staticPodPath: manifests, podLogsDir: join(dir, "logs/pods") },
    ...{ failSwapOn: false, failCgroupV1: false, cgroupsPerQOS: false, enforceNodeAllocatable: [] },
    ...{ evictionHard: { "memory.available": "1Mi" }, imageGCHighThresholdPercent: 100 },
    // A poll would come too late for the test.
    ...{ nodeStatusUpdateFrequency: "10m", logging: { format: "json" }, ...config },
  };
  await writeFile(configFile, JSON.stringify(document));
  const args = ["--config", configFile, "--root-dir", join(dir, "kubelet"), "--hostname-override", "test-node"];
  const [enter = "", ...words] = [...network.enter, process.execPath, BUILT_MAIN, ...args];
  const log = await open(logFile, "a");
  const child = spawn(enter, [...words, "--proc-sys-dir", await privateKernelFlags(dir)], {
    stdio: ["ignore", log.fd, log.fd],
    env: { ...process.env, PATH: `${programs}:${process.env["PATH"] ?? ""}:/usr/sbin` },
  });
  await log.close();
  onTestFinished(() => void child.kill("SIGKILL"));
  const entries = async (): Promise<readonly LogEntry[]> => {
    const lines = (await readFile(logFile, "utf8")).split("\n").slice(0, -1);
    return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as LogEntry);
  };
  return { child, entries };
}

/** Process ids of the children of a process. */
const childrenOf = ({ pid = 0 }: ChildProcess): readonly string[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean),
  );

describe.concurrent("the network of the node", () => {
  for (const { backend, config, ...expected } of CASES) {
    const title = `on iptables-${backend}`;
    it.skipIf(mustSkip(title, missingForIpTables(backend)))(`${title}: chains, a flush, an address`, async () => {
      const dir = temporaryDir();
      await mkdir(join(dir, "runtime"));
      const network = await openNetworkNamespace();
      onTestFinished(() => network.close());
      const programs = ipTablesFolder(dir, backend);
      network.inside("ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1");
      network.inside("ip", "address", "add", "192.0.2.1/24", "dev", "v0");
      network.inside("ip", "link", "set", "v1", "up");
      network.inside("ip", "link", "set", "v0", "up");
      const { child, entries } = await daemonIn(network, dir, programs, config);
      const said = async (text: string): Promise<number> => (await entries()).filter(({ msg }) => msg === text).length;
      const rules = () =>
        (["iptables", "ip6tables"] as const).map((program) =>
          kubeletRules(network.inside(join(programs, `${program}-save`))).toSorted(),
        );
      const all = [expected.IPv4.toSorted(), expected.IPv6.toSorted()];

      await waitFor("the chains", async () => (await said("Initialized iptables rules.")) === 2);
      expect(rules()).toEqual(all);

      // It sees the first change of nftables at once, and would restore chains between two commands.
      child.kill("SIGSTOP");
      for (const program of ["iptables", "ip6tables"]) {
        for (const table of ["filter", "nat", "mangle"]) {
          for (const operation of ["-F", "-X"]) {
            network.inside(join(programs, program), "-w", "-t", table, operation);
          }
        }
      }
      expect(rules()).toEqual([[], []]);
      child.kill("SIGCONT");

      network.inside("ip", "address", "add", "192.0.2.7/24", "dev", "v0");
      network.inside("ip", "address", "del", "192.0.2.1/24", "dev", "v0");
      network.inside("ip", "address", "add", "192.0.2.9/24", "dev", "v0");
      const changed = await waitFor("the address", async () =>
        (await entries()).find(({ msg }) => msg === "Addresses of the machine changed"),
      );
      expect(changed["before"]).toEqual(["192.0.2.1"]);

      await waitFor("the rules", () => JSON.stringify(rules()) === JSON.stringify(all), RESTORED_MS);
      expect(await said("Reloading after iptables flush")).toBe(2);

      const helpers = childrenOf(child);
      expect(helpers.length).toBeGreaterThan(0);
      child.kill("SIGKILL");
      await waitFor("its programs to end", () => helpers.every((pid) => !existsSync(`/proc/${pid}`)));
      expect(rules()).toEqual(all);
    });
  }
});
