/**
 * Addresses of a sandbox that another shim connected, as the kernel has them for the namespace of its process. Bound:
 * `MAX_ADDRESSES`, from at most 4 MiB of each table.
 */
import { readText } from "../fileSystem/readText.ts";

const MAX_ADDRESSES = 16;
const GLOBAL_SCOPE = "00";

/** Reads the addresses, IPv4 first; none where the process has ended. */
export async function podAddresses(pid: number): Promise<readonly string[]> {
  if (pid <= 0) return [];
  const read = (table: string): Promise<string> => readText(`/proc/${pid}/net/${table}`).catch(() => "");
  const [routes, addresses] = await Promise.all([read("fib_trie"), read("if_inet6")]);
  return [...fourOf(routes), ...sixOf(addresses)].slice(0, MAX_ADDRESSES);
}

/** Returns the local addresses of the kernel's routing trie: each on a line of its own, before one with its kind. */
export function fourOf(routes: string): readonly string[] {
  const lines = routes.split("\n");
  const found = lines.flatMap((line, index) => {
    const [, address] = /^ *\|-- (\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})$/.exec(line) ?? [];
    const isLocal = lines[index + 1]?.trim() === "/32 host LOCAL";
    return address === undefined || !isLocal || address.startsWith("127.") ? [] : [address];
  });
  return [...new Set(found)];
}

/** Returns the global addresses of the kernel's table, in eight groups. */
export function sixOf(table: string): readonly string[] {
  return table.split("\n").flatMap((line) => {
    const [address = "", , , scope] = line.trim().split(/\s+/);
    if (scope !== GLOBAL_SCOPE || !/^[0-9a-f]{32}$/.test(address)) return [];
    const groups = address.match(/.{4}/g) ?? [];
    return [groups.map((group) => group.replace(/^0{1,3}/, "")).join(":")];
  });
}
