/** Chooses the addresses of a machine among those of its interfaces. Upstream: k8s.io/apimachinery/pkg/util/net. */

/** An address of an interface. */
export interface InterfaceAddress {
  readonly address: string;
  readonly family: "IPv4" | "IPv6";
  /** Loopback. */
  readonly internal: boolean;
}

/** Addresses by interface. */
export type Interfaces = Readonly<Record<string, readonly InterfaceAddress[] | undefined>>;

const ROUTE_UP = 1;
const DEFAULT_DESTINATION = "00000000";

/** Returns the interface of the IPv4 default route with the lowest metric, of the text of /proc/net/route. */
export function defaultInterface(routes: string): string | undefined {
  const candidates = routes.split("\n").flatMap((line) => {
    const [name, destination, , flags = "0", , , metric = "0"] = line.split(/\s+/);
    const isUp = (Number.parseInt(flags, 16) & ROUTE_UP) !== 0;
    return name !== undefined && destination === DEFAULT_DESTINATION && isUp ? [{ name, metric: Number(metric) }] : [];
  });
  return candidates.sort((a, b) => a.metric - b.metric)[0]?.name;
}

/**
 * Returns an address per family of the preferred interface, else of the first with one; none when only loopback is up.
 */
export function primaryIps(interfaces: Interfaces, preferred: string | undefined): readonly string[] {
  const chosen = preferred === undefined ? undefined : interfaces[preferred];
  const all = chosen ?? Object.values(interfaces).flatMap((addresses) => addresses ?? []);
  const usable = all.filter(({ internal, address }) => !internal && !address.startsWith("fe80:"));
  const ofFamily = (family: InterfaceAddress["family"]): readonly string[] =>
    usable
      .filter((each) => each.family === family)
      .map(({ address }) => address)
      .slice(0, 1);
  const ips = [...ofFamily("IPv4"), ...ofFamily("IPv6")];
  return ips.length > 0 || chosen === undefined ? ips : primaryIps(interfaces, undefined);
}
