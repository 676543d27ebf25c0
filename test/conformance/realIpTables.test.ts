/** Both back ends of iptables, each in a network of its own. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { describe, expect, it } from "vitest";
import type { IpFamily } from "../../src/core/network/utilChains.ts";
import { createIpTables } from "../../src/sinks/ipTables.ts";
import { findProgram } from "../support/findProgram.ts";
import { mustSkip } from "../support/mustSkip.ts";
import {
  type Backend,
  ipTablesFolder,
  missingForIpTables,
  openNetworkNamespace,
  scriptAt,
} from "../support/networkNamespace.ts";
import { realClock } from "../support/realClock.ts";
import { removeFolder } from "../support/removeFolder.ts";
import { waitFor } from "../support/waitFor.ts";
import { ipTablesConformance } from "./ipTablesConformance.ts";

const TABLES = ["mangle", "nat", "filter"];
const PROGRAMS: Readonly<Record<IpFamily, string>> = { IPv4: "iptables", IPv6: "ip6tables" };

const open = (backend: Backend) => async () => {
  const parent = mkdtempSync(join(tmpdir(), "rxlet-iptables-"));
  const network = await openNetworkNamespace();
  const folder = ipTablesFolder(parent, backend);
  const script = (name: string, program: string): string =>
    scriptAt(join(parent, `${name}.sh`), `exec ${network.enter.join(" ")} ${program} "$@"`);
  const inside = (family: IpFamily): string => script(family, join(folder, PROGRAMS[family]));
  const nft = script("nft", findProgram("nft") ?? "nft");
  return {
    port: createIpTables({ clock: realClock, programs: { IPv4: inside("IPv4"), IPv6: inside("IPv6"), nft } }),
    flush(family: IpFamily) {
      for (const table of TABLES) {
        for (const operation of ["-F", "-X"]) {
          network.inside(join(folder, PROGRAMS[family]), "-w", "-t", table, operation);
        }
      }
    },
    async close() {
      await network.close();
      await removeFolder(parent);
    },
  };
};

for (const backend of ["nft", "legacy"] as const) {
  const title = `iptables with the back end ${backend}`;
  ipTablesConformance(backend, open(backend), mustSkip(title, missingForIpTables(backend)));
}

const TITLE = "reports of nft";
const MISSING = [...missingForIpTables("nft"), ...(findProgram("nft") === undefined ? ["nft"] : [])];

describe.skipIf(mustSkip(TITLE, MISSING))(TITLE, () => {
  it("come for the chains of a kubelet, of both families", async () => {
    const { port, flush, close } = await open("nft")();
    let reports = 0;
    const watch = port.deletions$.subscribe({ next: () => (reports += 1), error: () => (reports = Number.NaN) });
    try {
      for (const family of ["IPv4", "IPv6"] as const) {
        const before = reports;
        // The first deletion may come before nft watches.
        await waitFor("a report", async () => {
          await firstValueFrom(port.ensureChain(family, "nat", "KUBE-KUBELET-CANARY"));
          flush(family);
          return reports > before;
        });
      }
      expect(reports).toBeGreaterThan(1);
    } finally {
      watch.unsubscribe();
      await close();
    }
  });
});
