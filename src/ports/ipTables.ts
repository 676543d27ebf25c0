/** The firewall of the node through iptables. One caller at a time per family. Upstream: pkg/util/iptables. */
import type { Observable } from "rxjs";
import type { IpFamily, IpRule, IpTable } from "../core/network/utilChains.ts";
import type { Call } from "./call.ts";

/**
 * Chains and rules of the kernel. Errors: NotFound without the program; Unavailable when another program holds the lock, and
 * for other lacks of resources; DeadlineExceeded; Io with what the program says.
 */
export interface IpTables {
  /** Emits whether the program works for the family. An error leaves that open. */
  isUsable(family: IpFamily): Call<UsableFamily>;
  /** Creates the chain unless it exists; emits whether it existed. */
  ensureChain(family: IpFamily, table: IpTable, chain: string): Call<boolean>;
  /** Adds the rule unless its chain has it; emits whether it had. */
  ensureRule(family: IpFamily, table: IpTable, rule: IpRule): Call<boolean>;
  hasChain(family: IpFamily, table: IpTable, chain: string): Call<boolean>;
  /**
   * Emits after chains of a kubelet were deleted, by anybody. Completes when this system does not report deletions; errors
   * when the reports end.
   */
  readonly deletions$: Observable<unknown>;
}

/** Whether a family can be used, and why not. */
export type UsableFamily = { readonly isUsable: true } | { readonly isUsable: false; readonly reason: string };
