/** Sweeps of the network of sandboxes: beside the calls, one at a time, and again while something is left. */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { err, ok, type Result } from "../../../src/core/result.ts";
import type { DockerCalls } from "../../../src/dockershim/dockerCalls.ts";
import { createNetworkSweeps } from "../../../src/dockershim/networkSweeps.ts";
import type { PodNetwork } from "../../../src/dockershim/podNetwork.ts";
import { sandboxCalls } from "../../../src/dockershim/sandboxCalls.ts";
import { openSandboxNetworks, type SandboxNetworks } from "../../../src/dockershim/sandboxNetworks.ts";
import type { Shim } from "../../../src/dockershim/shim.ts";
import { RunPodSandboxRequest } from "../../../src/gen/cri.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const ID = "ab".repeat(32);

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** Sweeps whose test says how each one ends, with whether it was whole. */
function swept() {
  const asked: boolean[] = [];
  const ends: PromiseWithResolvers<boolean>[] = [];
  const reports: string[] = [];
  const closed = new AbortController();
  const sweep: SandboxNetworks["sweep"] = (_existing, isWhole) => {
    asked.push(isWhole);
    const end = Promise.withResolvers<boolean>();
    ends.push(end);
    return end.promise;
  };
  const networks = { podNetwork: {}, sweep } as unknown as SandboxNetworks;
  const report = (line: string): void => void reports.push(line);
  const sweeps = createNetworkSweeps({ list: async () => [] }, networks, report, closed.signal);
  const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);
  const end = async (isClean: boolean): Promise<void> => {
    ends.at(-1)?.resolve(isClean);
    await settle();
  };
  return { asked, ends, reports, closed, sweeps, settle, end };
}

describe("a sweep", () => {
  it("begins at once, and never beside another one", async () => {
    const { asked, sweeps, settle, end } = swept();
    sweeps.whole();
    sweeps.whole();
    await settle();
    expect(asked).toEqual([true]);
    sweeps.whole();
    await settle(3_600_000);
    expect(asked).toEqual([true]);
    await end(true);
    expect(asked).toEqual([true, true]);
    await end(true);
    await settle(3_600_000);
    expect(asked).toEqual([true, true]);
  });

  it("comes again after 1, 2, 4 seconds and at last each minute, until nothing is left", async () => {
    const { asked, sweeps, settle, end } = swept();
    sweeps.later();
    for (const [index, seconds] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
      await settle(seconds * 1_000 - 1);
      expect(asked).toHaveLength(index);
      await settle(1);
      expect(asked).toHaveLength(index + 1);
      await end(false);
    }
    await settle(60_000);
    await end(true);
    const count = asked.length;
    await settle(3_600_000);
    expect([asked.length, asked.some((isWhole) => isWhole)]).toEqual([count, false]);
  });

  it("comes after one that a failure overtook", async () => {
    const { asked, sweeps, settle, end } = swept();
    sweeps.whole();
    await settle();
    sweeps.later();
    await end(true);
    await settle(1_000);
    expect(asked).toEqual([true, false]);
    await end(true);
  });

  it("does not wait for the pause of another one", async () => {
    const { asked, sweeps, settle } = swept();
    sweeps.later();
    await settle(500);
    sweeps.whole();
    await settle();
    expect(asked).toEqual([true]);
  });

  it("comes again as a whole where Docker could not be asked, and says why", async () => {
    const { asked, ends, reports, sweeps, settle } = swept();
    sweeps.whole();
    await settle();
    ends[0]?.reject(new Error("Docker is away"));
    await settle(1_000);
    expect([asked, reports]).toEqual([[true, true], ["Docker is away"]]);
  });

  it("comes again as a whole while the network itself has leftovers", async () => {
    const { asked, sweeps, settle, end } = swept();
    sweeps.whole();
    await settle();
    await end(false);
    await settle(1_000);
    await end(true);
    await settle(3_600_000);
    expect(asked).toEqual([true, true]);
  });

  it("does not come again after the end of the shim", async () => {
    const { asked, closed, sweeps, settle, end } = swept();
    sweeps.whole();
    await settle();
    closed.abort();
    await end(false);
    await settle(3_600_000);
    expect(asked).toEqual([true]);
  });
});

describe("a sandbox that could not be connected", () => {
  const root = temporaryDirectory();
  const STATE = { running: true, id: ID, pid: 7, resolvConfPath: "" };

  /** Calls of a shim whose network refuses all, and disconnects nothing until `repair`. */
  async function refused() {
    const removals: Result<void>[] = [];
    let removal: Result<void> = err(kubeletError("Io", "no plugin"));
    const podNetwork: PodNetwork = {
      add: async () => err(kubeletError("Io", "no address left")),
      remove: async () => {
        removals.push(removal);
        return removal;
      },
      status: () => ({ ready: true }),
    };
    const existing = new Set<string>();
    const docker = {
      create: async () => {
        existing.add(ID);
        return ID;
      },
      start: async () => undefined,
      inspect: async () => STATE,
      remove: async (id: string) => void existing.delete(id),
      list: async () => [...existing].map((id) => ({ id })),
    } as unknown as DockerCalls;
    const report = (): void => undefined;
    const networks = await openSandboxNetworks(root(), podNetwork, report);
    const sweeps = createNetworkSweeps(docker, networks, report, new AbortController().signal);
    const info = async () => ({ runtimes: [], cgroupDriver: "systemd", remapsUsers: false });
    const shim = { docker, info, networks, sweeps, podSandboxImage: "pause:1", report } as unknown as Shim;
    const config = { metadata: { name: "web", namespace: "shop", uid: "u" } };
    return {
      removals,
      repair: () => (removal = ok(undefined)),
      run: async () =>
        sandboxCalls(shim).runPodSandbox?.(RunPodSandboxRequest.fromPartial({ config }), new AbortController().signal),
    };
  }

  it("leaves the network once that can be done, though no event and no call comes", async () => {
    const { removals, repair, run } = await refused();
    await expect(run()).rejects.toThrow("no address left");
    expect(removals.map(({ ok: isDone }) => isDone)).toEqual([false]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(removals.map(({ ok: isDone }) => isDone)).toEqual([false, false]);
    repair();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(removals.map(({ ok: isDone }) => isDone)).toEqual([false, false, true]);
    await vi.waitFor(async () => expect(await fs.readdir(join(root(), "sandboxes"))).toEqual([]));
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(removals).toHaveLength(3);
  });
});
