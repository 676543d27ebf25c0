/**
 * The chains and rules of iptables that a kubelet keeps in place, as steps that each hold or are made to hold. Upstream:
 * syncIPTablesRules of pkg/kubelet/kubelet_network_linux.go, and syncIPTablesRulesDeprecated of 1.27 for the marks.
 */

export type IpFamily = "IPv4" | "IPv6";
export type IpTable = "mangle" | "nat" | "filter";

/** A rule of a chain: its arguments after the name of the chain and of the table. */
export interface IpRule {
  readonly chain: string;
  /** Where a missing rule is added. */
  readonly at: "start" | "end";
  readonly words: readonly string[];
}

/** A chain or a rule that must exist. */
export type ChainStep = {
  readonly table: IpTable;
  /** The text of upstream's log line when the step fails. */
  readonly failure: string;
} & ({ readonly chain: string } | { readonly rule: IpRule });

/** Bits of the packet mark that chains set, 0 to 31; an absent bit has no chains. */
export interface MarkBits {
  readonly masquerade?: number;
  readonly drop?: number;
}

/** Components in containers look for this chain, to learn which back end of iptables the node uses. */
const HINT = "KUBE-IPTABLES-HINT";
const FIREWALL = "KUBE-FIREWALL";
const MARK_DROP = "KUBE-MARK-DROP";
const MARK_MASQ = "KUBE-MARK-MASQ";
const POSTROUTING = "KUBE-POSTROUTING";
/** An empty chain in each of its tables. A program that flushes iptables deletes it, too. */
export const CANARY = "KUBE-KUBELET-CANARY";
/** The tables of the canary, the one that is looked at first. */
export const CANARY_TABLES = ["mangle", "nat", "filter"] as const satisfies readonly IpTable[];

/** Returns whether a line about a deleted chain names one of these chains. */
export const namesUtilChain = (line: string): boolean => UTIL_CHAIN.test(line);
const UTIL_CHAIN = /\bKUBE-(?:IPTABLES-HINT|FIREWALL|MARK-DROP|MARK-MASQ|POSTROUTING|KUBELET-CANARY)(?![\w-])/;

const MIN_HEX_DIGITS = 6;

/** `0x004000` for bit 14. */
const markOf = (bit: number): string => `0x${(2 ** bit).toString(16).padStart(MIN_HEX_DIGITS, "0")}`;

const chain = (table: IpTable, name: string, failure: string): ChainStep => ({ table, chain: name, failure });
const rule = (table: IpTable, found: IpRule, failure: string): ChainStep => ({ table, rule: found, failure });
const comment = (text: string): readonly string[] => ["-m", "comment", "--comment", text];

/**
 * Returns the steps in their order. Without bits they are those of upstream. Differs from upstream: with bits, both
 * families have the chains of the marks, which upstream's 1.36 has no longer.
 */
export const utilChainSteps = (family: IpFamily, { masquerade, drop }: MarkBits = {}): readonly ChainStep[] => [
  chain("mangle", HINT, "Failed to ensure that iptables hint chain exists"),
  ...(family === "IPv4" || drop !== undefined ? firewall() : []),
  ...(family === "IPv4" ? martians() : []),
  ...(drop === undefined ? [] : dropMarked(markOf(drop))),
  ...(masquerade === undefined ? [] : masqueradeMarked(markOf(masquerade))),
];

const firewall = (): readonly ChainStep[] => [
  chain("filter", FIREWALL, "Failed to ensure that filter table KUBE-FIREWALL chain exists"),
  ...["OUTPUT", "INPUT"].map((from) =>
    rule(
      "filter",
      { chain: from, at: "start", words: ["-j", FIREWALL] },
      `Failed to ensure that ${from} chain jumps to KUBE-FIREWALL`,
    ),
  ),
];

/**
 * Drops packets from outside to the loopback addresses, which `route_localnet` of kube-proxy would let in. Only IPv4 has
 * such a setting. kube-proxy in its mode iptables keeps the same rule.
 */
const martians = (): readonly ChainStep[] => [
  rule(
    "filter",
    {
      chain: FIREWALL,
      at: "end",
      words: [
        ...comment("block incoming localnet connections"),
        ...["--dst", "127.0.0.0/8", "!", "--src", "127.0.0.0/8"],
        ...["-m", "conntrack", "!", "--ctstate", "RELATED,ESTABLISHED,DNAT", "-j", "DROP"],
      ],
    },
    "Failed to ensure rule to drop invalid localhost packets in filter table KUBE-FIREWALL chain",
  ),
];

const dropMarked = (mark: string): readonly ChainStep[] => [
  chain("nat", MARK_DROP, "Failed to ensure that KUBE-MARK-DROP chain exists"),
  rule(
    "nat",
    { chain: MARK_DROP, at: "end", words: ["-j", "MARK", "--or-mark", mark] },
    "Failed to ensure that KUBE-MARK-DROP rule exists",
  ),
  rule(
    "filter",
    {
      chain: FIREWALL,
      at: "end",
      words: [
        ...comment("kubernetes firewall for dropping marked packets"),
        ...["-m", "mark", "--mark", `${mark}/${mark}`, "-j", "DROP"],
      ],
    },
    "Failed to ensure that KUBE-FIREWALL rule exists",
  ),
];

/** kube-proxy keeps the same rules. The mark is cleared, so that a packet is masqueraded once. */
const masqueradeMarked = (mark: string): readonly ChainStep[] => [
  chain("nat", MARK_MASQ, "Failed to ensure that KUBE-MARK-MASQ chain exists"),
  chain("nat", POSTROUTING, "Failed to ensure that KUBE-POSTROUTING chain exists"),
  rule(
    "nat",
    { chain: MARK_MASQ, at: "end", words: ["-j", "MARK", "--or-mark", mark] },
    "Failed to ensure that KUBE-MARK-MASQ rule exists",
  ),
  rule(
    "nat",
    { chain: "POSTROUTING", at: "start", words: [...comment("kubernetes postrouting rules"), "-j", POSTROUTING] },
    "Failed to ensure that POSTROUTING chain jumps to KUBE-POSTROUTING",
  ),
  rule(
    "nat",
    { chain: POSTROUTING, at: "end", words: ["-m", "mark", "!", "--mark", `${mark}/${mark}`, "-j", "RETURN"] },
    "Failed to ensure first masquerading rule exists",
  ),
  rule(
    "nat",
    { chain: POSTROUTING, at: "end", words: ["-j", "MARK", "--xor-mark", mark] },
    "Failed to ensure second masquerading rule exists",
  ),
  rule(
    "nat",
    {
      chain: POSTROUTING,
      at: "end",
      words: [...comment("kubernetes service traffic requiring SNAT"), "-j", "MASQUERADE", "--random-fully"],
    },
    "Failed to ensure third masquerading rule exists",
  ),
];
