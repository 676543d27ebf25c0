/** The files of sandboxes in a network of ours: what a shim finds that an earlier one left. */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { err, ok } from "../../../src/core/result.ts";
import type { NetworkedSandbox, PodNetwork } from "../../../src/dockershim/podNetwork.ts";
import { openSandboxNetworks } from "../../../src/dockershim/sandboxNetworks.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const ID = "ab".repeat(32);
const OTHER = "cd".repeat(32);
const sandboxOf = (id: string, annotations = {}): NetworkedSandbox => ({
  id,
  namespace: "ns",
  name: "web",
  uid: "u",
  netns: "/proc/7/ns/net",
  portMappings: [],
  annotations,
  dns: { servers: [], searches: [], options: [] },
  cgroupParent: "",
});
const ours = (id: string) => ({ id, networkMode: "none", labels: { "dev.rxlet.docker.network": "pod" } });

describe("networks of sandboxes", () => {
  const root = temporaryDirectory();
  const calls: string[] = [];
  const network = (more: Partial<PodNetwork> = {}): PodNetwork => ({
    add: async () => ok({ ips: ["192.0.2.1"] }),
    remove: async ({ id, netns }) => {
      calls.push(`${id} ${netns}`);
      return ok(undefined);
    },
    status: () => ({ ready: true }),
    ...more,
  });
  async function opened(podNetwork: PodNetwork = network()) {
    calls.length = 0;
    const reports: string[] = [];
    const networks = await openSandboxNetworks(root(), podNetwork, (line) => void reports.push(line));
    return { networks, reports };
  }
  const files = () => fs.readdir(join(root(), "sandboxes"));

  it("outlive the shim, with annotations as large as CRI lets them be", async () => {
    const { networks } = await opened();
    await networks.connect(sandboxOf(ID, { huge: "x".repeat(1_000_000) }));
    const next = await opened();
    expect(next.networks.of(ours(ID), [])).toEqual({ connected: true, ips: ["192.0.2.1"] });
    await next.networks.disconnect(ID, "");
    expect([calls, await files(), next.networks.of(ours(ID), [])]).toEqual([
      [`${ID} `],
      [],
      { connected: false, ips: [] },
    ]);
  });

  it("do without files that are broken: the container describes the sandbox, and is asked once", async () => {
    await fs.mkdir(join(root(), "sandboxes"));
    const broken = join(root(), "sandboxes", `${ID}.json`);
    await fs.writeFile(broken, '{"sandbox":{"id":"');
    await fs.symlink("/etc/passwd", join(root(), "sandboxes", `${OTHER}.json`));
    const { networks, reports } = await opened();
    expect(reports.map((line) => line.replace(root(), "ROOT")).sort()).toEqual([
      `ROOT/sandboxes/${ID}.json cannot be read`,
      `ROOT/sandboxes/${OTHER}.json cannot be read`,
    ]);
    expect(networks.of(ours(ID), [])).toEqual({ connected: false, ips: [] });
    await networks.disconnect(ID, "/n", sandboxOf(ID));
    await networks.disconnect(ID, "", sandboxOf(ID));
    expect(calls).toEqual([`${ID} /n`]);
  });

  it("keep the file of a sandbox that cannot be disconnected yet, and try again", async () => {
    const { networks } = await opened();
    await networks.connect(sandboxOf(ID));
    let isBroken = true;
    const remove: PodNetwork["remove"] = async () => (isBroken ? err(kubeletError("Io", "no plugin")) : ok(undefined));
    const next = await opened(network({ remove }));
    await expect(next.networks.disconnect(ID, "")).rejects.toThrow("cannot be disconnected: no plugin");
    const swept = (...ids: readonly string[]) => next.networks.sweep(async () => new Set(ids), true);
    expect(await swept()).toBe(false);
    expect([await files(), next.reports]).toEqual([[`${ID}.json`], [expect.stringContaining("no plugin")]]);
    isBroken = false;
    expect(await swept(ID)).toBe(true);
    expect(await files()).toEqual([`${ID}.json`]);
    expect(await swept()).toBe(true);
    expect(await files()).toEqual([]);
  });

  it("keep a sandbox that is made while Docker lists the others", async () => {
    const { networks } = await opened();
    await networks.connect(sandboxOf(OTHER));
    const swept = networks.sweep(async () => {
      await networks.connect(sandboxOf(ID));
      return new Set();
    }, true);
    expect(await swept).toBe(true);
    expect([calls, await files()]).toEqual([[`${OTHER} `], [`${ID}.json`]]);
  });

  it("ask Docker for no sandboxes where none is known, and the network for its own ones only as a whole", async () => {
    const asked: string[] = [];
    const { networks } = await opened(network({ sweep: async () => asked.push("network") > 3 }));
    const existing = async () => {
      asked.push("docker");
      return new Set<string>();
    };
    expect(await networks.sweep(existing, false)).toBe(true);
    expect(asked).toEqual([]);
    expect(await networks.sweep(existing, true)).toBe(false);
    expect(asked).toEqual(["docker", "network"]);
    expect(await networks.sweep(existing, true)).toBe(true);
  });

  it("disconnect what could not be connected, and say why", async () => {
    const { networks } = await opened(network({ add: async () => err(kubeletError("Io", "no address left")) }));
    await expect(networks.connect(sandboxOf(ID))).rejects.toThrow("cannot be connected: no address left");
    expect([calls, await files()]).toEqual([[`${ID} /proc/7/ns/net`], []]);
  });

  it("keep the file of what could neither be connected nor disconnected, and say why", async () => {
    const remove: PodNetwork["remove"] = async () => err(kubeletError("Io", "no plugin"));
    const { networks } = await opened(network({ add: async () => err(kubeletError("Io", "no address left")), remove }));
    await expect(networks.connect(sandboxOf(ID))).rejects.toThrow(
      `sandbox "${ID}" cannot be connected: no address left; sandbox "${ID}" cannot be disconnected: no plugin`,
    );
    expect([networks.has(ID), await files()]).toEqual([true, [`${ID}.json`]]);
  });

  it.each([
    ["host", {}, { connected: true, ips: [] }],
    ["default", {}, { connected: true, ips: ["10.0.0.2"] }],
    ["none", {}, { connected: true, ips: [] }],
    ["none", { "dev.rxlet.docker.network": "pod" }, { connected: false, ips: [] }],
  ])("are those of Docker in mode %s with labels %j", async (networkMode, labels, expected) => {
    const { networks } = await opened();
    expect(networks.of({ id: ID, networkMode, labels }, ["10.0.0.2"])).toEqual(expected);
  });
});
