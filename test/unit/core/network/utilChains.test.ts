/** The chains and rules that a kubelet keeps, in the words of iptables. */
import { describe, expect, it } from "vitest";
import { type ChainStep, namesUtilChain, utilChainSteps } from "../../../../src/core/network/utilChains.ts";

/** The step as a call of iptables. */
const shown = (step: ChainStep): string => {
  if ("chain" in step) return `-t ${step.table} -N ${step.chain}`;
  const { chain, at, words } = step.rule;
  return `-t ${step.table} ${at === "start" ? "-I" : "-A"} ${chain} ${words.join(" ")}`;
};

const HINT = "-t mangle -N KUBE-IPTABLES-HINT";
const FIREWALL = [
  "-t filter -N KUBE-FIREWALL",
  "-t filter -I OUTPUT -j KUBE-FIREWALL",
  "-t filter -I INPUT -j KUBE-FIREWALL",
];
const MARTIANS =
  "-t filter -A KUBE-FIREWALL -m comment --comment block incoming localnet connections --dst 127.0.0.0/8 " +
  "! --src 127.0.0.0/8 -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP";
const dropOf = (mark: string): readonly string[] => [
  "-t nat -N KUBE-MARK-DROP",
  `-t nat -A KUBE-MARK-DROP -j MARK --or-mark ${mark}`,
  "-t filter -A KUBE-FIREWALL -m comment --comment kubernetes firewall for dropping marked packets -m mark " +
    `--mark ${mark}/${mark} -j DROP`,
];
const masqueradeOf = (mark: string): readonly string[] => [
  "-t nat -N KUBE-MARK-MASQ",
  "-t nat -N KUBE-POSTROUTING",
  `-t nat -A KUBE-MARK-MASQ -j MARK --or-mark ${mark}`,
  "-t nat -I POSTROUTING -m comment --comment kubernetes postrouting rules -j KUBE-POSTROUTING",
  `-t nat -A KUBE-POSTROUTING -m mark ! --mark ${mark}/${mark} -j RETURN`,
  `-t nat -A KUBE-POSTROUTING -j MARK --xor-mark ${mark}`,
  "-t nat -A KUBE-POSTROUTING -m comment --comment kubernetes service traffic requiring SNAT -j MASQUERADE " +
    "--random-fully",
];

describe("utilChainSteps", () => {
  it.each([
    ["IPv4", {}, [HINT, ...FIREWALL, MARTIANS]],
    ["IPv6", {}, [HINT]],
    ["IPv4", { drop: 15 }, [HINT, ...FIREWALL, MARTIANS, ...dropOf("0x008000")]],
    ["IPv6", { drop: 15 }, [HINT, ...FIREWALL, ...dropOf("0x008000")]],
    ["IPv6", { masquerade: 14 }, [HINT, ...masqueradeOf("0x004000")]],
    [
      "IPv4",
      { masquerade: 0, drop: 31 },
      [HINT, ...FIREWALL, MARTIANS, ...dropOf("0x80000000"), ...masqueradeOf("0x000001")],
    ],
  ] as const)("of %s with the bits %o", (family, bits, expected) => {
    expect(utilChainSteps(family, bits).map(shown)).toEqual(expected);
  });
});

describe("namesUtilChain", () => {
  it.each([
    ["delete chain ip mangle KUBE-KUBELET-CANARY", true],
    ["delete chain ip6 filter KUBE-FIREWALL", true],
    ["delete chain ip nat KUBE-MARK-MASQ", true],
    ["delete chain ip mangle KUBE-PROXY-CANARY", false],
    ["delete chain ip nat KUBE-SVC-TCOU7JCQXEZGVUNU", false],
    ["delete chain ip filter KUBE-FIREWALL-ALLOW", false],
    ["delete chain ip filter INPUT", false],
  ])("%s: %s", (line, expected) => expect(namesUtilChain(line)).toBe(expected));
});
