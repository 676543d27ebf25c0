/** Promises of the IpTables port, on any implementation of it. */
import { firstValueFrom } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type IpFamily, utilChainSteps } from "../../src/core/network/utilChains.ts";
import type { IpTables } from "../../src/ports/ipTables.ts";

/** A machine under test, without chains of a kubelet. */
export interface IpTablesFixture {
  readonly port: IpTables;
  /** Deletes all rules and chains. */
  flush(family: IpFamily): void;
  close(): Promise<void>;
}

const FAMILIES = ["IPv4", "IPv6"] as const;

/** Runs the suite on the machines that `open` makes, one for each test; `options` are those of describe. */
export function ipTablesConformance(name: string, open: () => Promise<IpTablesFixture>, isSkipped = false): void {
  describe.skipIf(isSkipped)(`iptables: ${name}`, () => {
    let fixture: IpTablesFixture;
    beforeEach(async () => {
      fixture = await open();
    });
    afterEach(() => fixture.close());
    const ensureAll = async (family: IpFamily): Promise<readonly boolean[]> => {
      const existed: boolean[] = [];
      for (const step of utilChainSteps(family, { masquerade: 14, drop: 15 })) {
        const call =
          "chain" in step
            ? fixture.port.ensureChain(family, step.table, step.chain)
            : fixture.port.ensureRule(family, step.table, step.rule);
        existed.push(await firstValueFrom(call));
      }
      return existed;
    };
    const hasHint = (family: IpFamily): Promise<boolean> =>
      firstValueFrom(fixture.port.hasChain(family, "mangle", "KUBE-IPTABLES-HINT"));

    it.each(FAMILIES)("makes each chain and rule of %s once, and again after a flush", async (family) => {
      expect(await firstValueFrom(fixture.port.isUsable(family))).toEqual({ isUsable: true });
      expect(await hasHint(family)).toBe(false);
      const count = utilChainSteps(family, { masquerade: 14, drop: 15 }).length;
      for (const round of [1, 2]) {
        expect([round, await ensureAll(family)]).toEqual([round, Array(count).fill(false)]);
        expect([round, await ensureAll(family)]).toEqual([round, Array(count).fill(true)]);
        expect(await hasHint(family)).toBe(true);
        fixture.flush(family);
        expect(await hasHint(family)).toBe(false);
      }
    });

    it("keeps the families apart", async () => {
      await ensureAll("IPv6");
      expect(await hasHint("IPv4")).toBe(false);
    });
  });
}
