/** Classifies IP addresses and formats them canonically. Inputs have passed `isIPAddress`. Upstream: Go's net.IP. */

export type AddressKind = "unspecified" | "loopback" | "multicast" | "linkLocal" | "usual";

const V4_IN_V6 = [0, 0, 0, 0, 0, 0xffff];

/** Returns the kind of an address; an IPv4 address in IPv6 form counts as IPv4. */
export function addressKind(ip: string): AddressKind {
  const canonical = canonicalIp(ip);
  if (!canonical.includes(":")) return kindOfV4(canonical.split(".").map(Number));
  const [first = 0] = groupsOf(canonical);
  if (canonical === "::") return "unspecified";
  if (canonical === "::1") return "loopback";
  if (first >= 0xff00) return "multicast";
  return first >= 0xfe80 && first <= 0xfebf ? "linkLocal" : "usual";
}

function kindOfV4([a = 0, b = 0, c = 0, d = 0]: readonly number[]): AddressKind {
  if (a + b + c + d === 0) return "unspecified";
  if (a === 127) return "loopback";
  if (a >= 224 && a <= 239) return "multicast";
  return a === 169 && b === 254 ? "linkLocal" : "usual";
}

/** Returns the RFC 5952 form: lower case, no leading zeros, the longest run of zeros compressed. */
export function canonicalIp(ip: string): string {
  if (!ip.includes(":")) return ip.split(".").map(Number).join(".");
  const groups = groupsOf(ip);
  if (V4_IN_V6.every((group, at) => groups[at] === group)) {
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join(".");
  }
  const run = longestZeros(groups);
  const text = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(":");
  if (run.length < 2) return text(groups);
  return `${text(groups.slice(0, run.start))}::${text(groups.slice(run.start + run.length))}`;
}

/** Returns the eight groups of an IPv6 address. */
function groupsOf(ip: string): readonly number[] {
  const [head = "", tail] = ip.split("::").map((half) => (half === "" ? [] : half.split(":").flatMap(numbersOf)));
  const before = head === "" ? [] : head;
  if (tail === undefined) return before;
  return [...before, ...Array<number>(8 - before.length - tail.length).fill(0), ...tail];
}

/** Returns one group, or the two groups of an IPv4 address at the end. */
function numbersOf(group: string): readonly number[] {
  if (!group.includes(".")) return [Number.parseInt(group, 16)];
  const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
  return [a * 256 + b, c * 256 + d];
}

function longestZeros(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [at, group] of groups.entries()) {
    if (group !== 0) start = at + 1;
    else if (at + 1 - start > best.length) best = { start, length: at + 1 - start };
  }
  return best;
}
