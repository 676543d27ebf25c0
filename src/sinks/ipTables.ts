/**
 * The IpTables port by the programs `iptables` and `ip6tables` on the PATH, of either back end (nft, legacy). Bounds: 5 s
 * of waiting for the lock and 10 s for a call, 64 KiB of output; a program that hangs in the kernel is killed and left, and
 * MAX_LEFT of them refuse further calls. Deletions are reported by `nft monitor`, where it is installed and iptables has
 * the back end nft. Requires iptables 1.6.2 or later. Upstream: pkg/util/iptables/iptables.go.
 */
import { defer, EMPTY, filter, map, type Observable, switchMap } from "rxjs";
import { kubeletError } from "../core/errors.ts";
import { type IpFamily, type IpTable, namesUtilChain } from "../core/network/utilChains.ts";
import { orElse } from "../operators/orElse.ts";
import type { Call } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";
import type { IpTables, UsableFamily } from "../ports/ipTables.ts";
import { childLines, dyingWithUs } from "./childLines.ts";
import { runHostTool } from "./hostTool.ts";
import { boundedCall, type ToolEnd } from "./mounts/mountTool.ts";

/** Programs; tests have their own. */
export interface IpTablesOptions {
  readonly clock: Clock;
  /** Default: those on the PATH. */
  readonly programs?: Readonly<Partial<Record<IpFamily | "nft", string>>>;
  /** Deadline of one call. Default: 10 s. */
  readonly deadlineMs?: number;
}

const PROGRAMS: Readonly<Record<IpFamily | "nft", string>> = { IPv4: "iptables", IPv6: "ip6tables", nft: "nft" };
const DEADLINE_MS = 10_000;
/** The start of a line of `nft monitor` about a deleted chain. */
const DELETED = "delete chain ";
/** `-w`: another program may hold the lock. */
const WAIT = ["-w", "5"];
const MAX_LEFT = 4;
const MAX_REASON_CHARS = 500;
/** Exit statuses: an operation that failed, and a lack of resources, such as the lock. */
const REFUSED = 1;
const NO_RESOURCES = 4;

/** Creates the port. Nothing runs before a call is subscribed. */
export function createIpTables({ clock, programs = {}, deadlineMs = DEADLINE_MS }: IpTablesOptions): IpTables {
  const programOf = (name: IpFamily | "nft"): string => programs[name] ?? PROGRAMS[name];
  let left = 0;
  const run = (family: IpFamily, what: string, args: readonly string[]): Call<ToolEnd> =>
    boundedCall(`iptables: ${what}`, deadlineMs, clock, async (signal) => {
      const program = programOf(family);
      if (left >= MAX_LEFT) {
        throw kubeletError("ResourceExhausted", `cannot ${what}: ${left} calls of iptables hang in the kernel`);
      }
      left += 1;
      const whenEnded = (): void => void (left -= 1);
      return runHostTool({ program, args, what, statuses: "all", signal, whenEnded });
    });
  const operate = (family: IpFamily, what: string, table: IpTable, words: readonly string[]): Call<ToolEnd> => {
    const [operation = "", chain = "", ...rule] = words;
    return run(family, what, [...WAIT, operation, chain, "-t", table, ...rule]);
  };
  return {
    isUsable: (family) =>
      operate(family, "look for iptables", "nat", ["-S", "POSTROUTING"]).pipe(
        map((end): UsableFamily => {
          if (end.status === 0) return { isUsable: true };
          if (end.status === NO_RESOURCES) throw failed("look for iptables", end);
          return { isUsable: false, reason: reasonOf(end) };
        }),
      ),
    ensureChain: (family, table, chain) =>
      operate(family, `create chain "${chain}"`, table, ["-N", chain]).pipe(
        map((end) => {
          // Upstream's reading, too: a chain that exists is the only reason for this status.
          if (end.status === 0 || end.status === REFUSED) return end.status === REFUSED;
          throw failed(`creating chain "${chain}"`, end);
        }),
      ),
    ensureRule: (family, table, { chain, at, words }) =>
      operate(family, "check rule", table, ["-C", chain, ...words]).pipe(
        switchMap((found) => {
          if (found.status === 0) return [true];
          if (found.status !== REFUSED) throw failed("checking rule", found);
          const add = at === "start" ? "-I" : "-A";
          return operate(family, "append rule", table, [add, chain, ...words]).pipe(
            map((end) => {
              if (end.status !== 0) throw failed("appending rule", end);
              return false;
            }),
          );
        }),
      ),
    hasChain: (family, table, chain) =>
      operate(family, `list chain "${chain}"`, table, ["-S", chain]).pipe(
        map((end) => {
          if (end.status === 0 || end.status === REFUSED) return end.status === 0;
          throw failed(`listing chain "${chain}"`, end);
        }),
      ),
    deletions$: defer(() =>
      run("IPv4", "tell the version of iptables", ["--version"]).pipe(
        orElse(() => EMPTY),
        switchMap(({ said }) => (said.includes("nf_tables") ? deletedChains(programOf("nft")) : EMPTY)),
      ),
    ),
  };
}

/** Emits the lines about deleted chains of a kubelet. nft 1.1.3 refuses `monitor destroy chains`. */
const deletedChains = (nft: string): Observable<unknown> =>
  childLines(...dyingWithUs(nft, ["monitor", "chains"])).pipe(
    filter(({ from, text }) => from === "stdout" && text.startsWith(DELETED) && namesUtilChain(text)),
  );

const reasonOf = ({ status, said }: ToolEnd): string =>
  `exit status ${status}${said.trim() === "" ? "" : `: ${said.trim().slice(0, MAX_REASON_CHARS)}`}`;

const failed = (what: string, end: ToolEnd) =>
  kubeletError(end.status === NO_RESOURCES ? "Unavailable" : "Io", `error ${what}: ${reasonOf(end)}`);
