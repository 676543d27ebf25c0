/** Sweeps of the network of sandboxes: beside the calls, one at a time, and again while something is left. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createNetworkSweeps } from "../../../src/dockershim/networkSweeps.ts";
import type { SandboxNetworks } from "../../../src/dockershim/sandboxNetworks.ts";

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
