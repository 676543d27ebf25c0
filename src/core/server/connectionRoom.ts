/** Which connection makes room for another one: whoever holds most gives first, and what is idle goes before what works. */

/** A connection as far as room goes. */
export interface HeldConnection {
  /** Of whom it is: see `peerGroup`. */
  readonly peer: string;
  /** No request of it is under way. */
  readonly isIdle: boolean;
}

/**
 * Of the peers that hold most of `held` (oldest first) the oldest idle connection. If all of theirs are busy: with
 * `closesBusy` their oldest, otherwise the oldest idle one of anybody. undefined: no connection may be closed.
 */
export function connectionToClose<C extends HeldConnection>(held: Iterable<C>, closesBusy: boolean): C | undefined {
  const all = [...held];
  const counts = new Map<string, number>();
  for (const { peer } of all) counts.set(peer, (counts.get(peer) ?? 0) + 1);
  const most = Math.max(...counts.values());
  const greedy = all.filter(({ peer }) => counts.get(peer) === most);
  const isIdle = ({ isIdle: idle }: C): boolean => idle;
  return greedy.find(isIdle) ?? (closesBusy ? greedy[0] : all.find(isIdle));
}

/** Hextets of an IPv6 address that one peer is commonly given whole. */
const PREFIX_HEXTETS = 4;

/** Addresses that are one peer: an IPv4 address, or the IPv6 addresses of one /64. */
export function peerGroup(address: string | undefined): string {
  if (address === undefined) return "";
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  if (!address.includes(":")) return address;
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 2 * PREFIX_HEXTETS - first.length - last.length);
  const hextets = [...first, ...Array.from({ length: zeros }, () => "0"), ...last];
  return hextets.slice(0, PREFIX_HEXTETS).join(":");
}
