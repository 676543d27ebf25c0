/** Traffic of a sandbox, as the kernel counts it for the namespace of its process: also in networks unknown to Docker. */
import { NetworkInterfaceUsage } from "../gen/cri.ts";
import { readText } from "../fileSystem/readText.ts";

/** A pod with the right to can have any number of interfaces. */
const MAX_INTERFACES = 64;
const LOOPBACK = "lo";
const DEFAULT = "eth0";

/** Reads the interfaces of a process; none where it has ended. */
export async function networkUsage(pid: number): Promise<readonly NetworkInterfaceUsage[]> {
  return pid > 0 ? interfaces(await readText(`/proc/${pid}/net/dev`).catch(() => "")) : [];
}

/** Parses the kernel's table, the default interface first. */
export function interfaces(table: string): readonly NetworkInterfaceUsage[] {
  const found = table.split("\n").flatMap((line) => {
    const [name = "", values] = line.split(":", 2);
    const numbers = (values ?? "").trim().split(/\s+/);
    const [rxBytes, , rxErrors] = numbers;
    const [txBytes, , txErrors] = numbers.slice(8);
    if (![rxBytes, rxErrors, txBytes, txErrors].every((text) => /^\d{1,20}$/.test(text ?? ""))) return [];
    const value = (text: string | undefined) => ({ value: BigInt(text ?? 0) });
    const counters = {
      rxBytes: value(rxBytes),
      rxErrors: value(rxErrors),
      txBytes: value(txBytes),
      txErrors: value(txErrors),
    };
    return [NetworkInterfaceUsage.fromPartial({ name: name.trim(), ...counters })];
  });
  return found
    .filter(({ name }) => name !== LOOPBACK)
    .sort((one, other) => Number(other.name === DEFAULT) - Number(one.name === DEFAULT))
    .slice(0, MAX_INTERFACES);
}
