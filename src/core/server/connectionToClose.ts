/**
 * Chooses the connection to close for a new one: the peers with most connections give first, and idle connections
 * before busy ones.
 */

/** The facts of a connection that the choice depends on. */
export interface HeldConnection {
  /** Group of its peer: see `peerGroup`. */
  readonly peer: string;
  /** No request is in progress. */
  readonly isIdle: boolean;
}

/**
 * Returns the oldest idle connection of the peers with most connections (`held` is ordered oldest first). When all of
 * theirs are busy: with `closesBusy` their oldest connection, otherwise the oldest idle one of any peer. undefined: no
 * connection may be closed.
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

/** Number of leading hextets of an IPv6 address that identify one peer. */
const PREFIX_HEXTETS = 4;

/** Returns the peer of an address: the IPv4 address itself, or the /64 prefix of an IPv6 address. */
export function peerGroup(address: string | undefined): string {
  if (address === undefined) return "";
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  if (!address.includes(":")) return address;
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const first = head === "" ? [] : head.split(":");
  if (tail === undefined) return first.slice(0, PREFIX_HEXTETS).join(":");
  const last = tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => "0");
  return [...first, ...zeros, ...last].slice(0, PREFIX_HEXTETS).join(":");
}
