/** Host ports of the portmap plugin: whether iptables can do them here, and the chains the plugin leaves behind. */
import { execFileSync } from "node:child_process";
import { findProgram } from "./findProgram.ts";

const DNAT = "CNI-HOSTPORT-DNAT";
const CHAINS = [DNAT, "CNI-HOSTPORT-SETMARK", "CNI-HOSTPORT-MASQ"];

const iptables = (args: readonly string[]): string =>
  execFileSync(findProgram("iptables") ?? "iptables", ["-w", "-t", "nat", ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });

/** Runs, and says whether it went well. */
function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

/** Tries the kind of rules the portmap plugin writes, in a chain of our own. */
export function hostPortsWork(): boolean {
  const chain = `RXLET-PROBE-${process.pid}`;
  if (!attempt(() => iptables(["-N", chain]))) return false;
  const append = (rule: string): string => iptables(["-A", chain, ...rule.split(" ")]);
  const works = attempt(() => {
    append("-m comment --comment probe -p tcp -m multiport --dports 1 -j DNAT --to-destination 127.0.0.1:1");
    append("-j MARK --set-xmark 0x2000/0x2000");
    append("-m addrtype --dst-type LOCAL -j MASQUERADE");
  });
  attempt(() => iptables(["-F", chain]));
  attempt(() => iptables(["-X", chain]));
  return works;
}

/** The table's rules as `iptables -S` prints them; none where iptables does not work. */
function rules(): readonly string[] {
  try {
    return iptables(["-S"]).split("\n");
  } catch {
    return [];
  }
}

/** Removes the host ports of one pod network, then the plugin's own chains unless another network has host ports. */
export function removeHostPorts(network: string): void {
  for (const rule of rules()) {
    if (!rule.startsWith(`-A ${DNAT} `) || !rule.includes(`name: \\"${network}\\"`)) continue;
    const chain = rule.split(" ").at(-1) ?? "";
    deleteRule(rule);
    attempt(() => iptables(["-F", chain]));
    attempt(() => iptables(["-X", chain]));
  }
  const left = rules();
  if (!left.includes(`-N ${DNAT}`) || left.some((rule) => rule.startsWith(`-A ${DNAT} `))) return;
  const hooks = left.filter((rule) => CHAINS.some((chain) => rule.endsWith(`-j ${chain}`)));
  hooks.forEach(deleteRule);
  for (const chain of CHAINS) attempt(() => iptables(["-F", chain]));
  for (const chain of CHAINS) attempt(() => iptables(["-X", chain]));
}

/** Deletes a rule as printed: `-A CHAIN ...`, comments in double quotes with backslashes before their own quotes. */
function deleteRule(rule: string): void {
  const words = [...rule.matchAll(/"((?:\\.|[^"\\])*)"|(\S+)/g)];
  const [, ...args] = words.map((match) => match[1]?.replace(/\\(.)/g, "$1") ?? match[2] ?? "");
  attempt(() => iptables(["-D", ...args]));
}
