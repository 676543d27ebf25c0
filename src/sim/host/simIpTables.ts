/** iptables of a simulated machine: chains and rules of both families, which any program of the machine may delete. */
import { defer, map, type Observable, of, Subject, switchMap } from "rxjs";
import type { IpFamily, IpTable } from "../../core/network/utilChains.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { IpTables, UsableFamily } from "../../ports/ipTables.ts";

/** A call of the port, as a fault may select it. */
export interface SimIpTablesCall {
  readonly family: IpFamily;
  readonly operation: "isUsable" | "ensureChain" | "ensureRule" | "hasChain";
  readonly table: IpTable;
  readonly chain: string;
}

export interface SimIpTablesOptions {
  readonly clock: Clock;
  /** Default: 1 ms. */
  readonly latencyMs?: number;
  /** Replaces the result of a call: a failure, or a stream that never ends; undefined lets it pass. */
  readonly fate?: (call: SimIpTablesCall) => Observable<never> | undefined;
  /** Families of the system; default: both. */
  readonly families?: readonly IpFamily[];
  /** Whether the system reports deletions; default: it does not. */
  readonly reportsDeletions?: boolean;
}

export interface SimIpTables {
  readonly port: IpTables;
  /** Deletes all rules, and all chains but the built-in ones, of these tables; default: of all. */
  flush(family: IpFamily, ...tables: readonly IpTable[]): void;
  /** Deletes the rules of one chain. */
  flushChain(family: IpFamily, table: IpTable, chain: string): void;
  /** Returns `table chain` for each chain that is not built in, and `table chain: rule` for each rule. */
  list(family: IpFamily): readonly string[];
  /** The calls until now. */
  readonly calls: readonly SimIpTablesCall[];
}

type Chains = Map<string, string[]>;
const BUILT_IN: Readonly<Record<IpTable, readonly string[]>> = {
  mangle: ["PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"],
  nat: ["PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"],
  filter: ["INPUT", "FORWARD", "OUTPUT"],
};
const TABLES: readonly IpTable[] = ["mangle", "nat", "filter"];

/** Creates iptables without rules. */
export function createSimIpTables(options: SimIpTablesOptions): SimIpTables {
  const { clock, latencyMs = 1, fate, families = ["IPv4", "IPv6"], reportsDeletions = false } = options;
  const content = new Map<string, Chains>();
  const calls: SimIpTablesCall[] = [];
  const deletions = new Subject<void>();
  const chainsOf = (family: IpFamily, table: IpTable): Chains => {
    const key = `${family} ${table}`;
    const known = content.get(key) ?? new Map(BUILT_IN[table].map((chain): [string, string[]] => [chain, []]));
    content.set(key, known);
    return known;
  };
  const call = <T>(about: SimIpTablesCall, act: () => T): Call<T> =>
    defer(() => {
      calls.push(about);
      return fate?.(about) ?? longTimer(clock, latencyMs).pipe(map(act));
    });
  return {
    port: {
      isUsable: (family) =>
        call(
          { family, operation: "isUsable", table: "nat", chain: "POSTROUTING" },
          (): UsableFamily =>
            families.includes(family) ? { isUsable: true } : { isUsable: false, reason: "not in this kernel" },
        ),
      ensureChain: (family, table, chain) =>
        call({ family, operation: "ensureChain", table, chain }, () => {
          const chains = chainsOf(family, table);
          if (chains.has(chain)) return true;
          chains.set(chain, []);
          return false;
        }),
      ensureRule: (family, table, { chain, at, words }) =>
        call({ family, operation: "ensureRule", table, chain }, () => {
          const rules = chainsOf(family, table).get(chain) ?? [];
          const rule = words.join(" ");
          if (rules.includes(rule)) return true;
          if (at === "start") rules.unshift(rule);
          else rules.push(rule);
          return false;
        }),
      hasChain: (family, table, chain) =>
        call({ family, operation: "hasChain", table, chain }, () => chainsOf(family, table).has(chain)),
      deletions$: of(undefined).pipe(switchMap(() => (reportsDeletions ? deletions : []))),
    },
    flush(family, ...tables) {
      for (const table of tables.length === 0 ? TABLES : tables) content.delete(`${family} ${table}`);
      deletions.next();
    },
    flushChain(family, table, chain) {
      chainsOf(family, table).get(chain)?.splice(0);
    },
    list: (family) =>
      TABLES.flatMap((table) =>
        [...chainsOf(family, table)].flatMap(([chain, rules]) => [
          ...(BUILT_IN[table].includes(chain) ? [] : [`${table} ${chain}`]),
          ...rules.map((rule) => `${table} ${chain}: ${rule}`),
        ]),
      ),
    calls,
  };
}
