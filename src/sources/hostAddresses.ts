/** Reads the current addresses of this machine. Upstream: pkg/util/node, k8s.io/apimachinery/pkg/util/net. */
import { lookup } from "node:dns/promises";
import * as fs from "node:fs/promises";
import * as os from "node:os";
import type { MachineAddresses } from "../core/node/nodeFacts.ts";

/** Paths to read. */
export interface AddressOptions {
  /** Prefix of `/proc`, for tests. Default: none. */
  readonly prefix?: string;
  /**
   * Name of the node, to be looked up; empty is the host name. Absent: nothing is looked up, and `nameIps` is empty.
   */
  readonly nodeName?: string;
}

type Interfaces = ReturnType<typeof os.networkInterfaces>;

/** Returns the interface of the IPv4 default route with the lowest metric. */
function defaultInterface(routes: string): string | undefined {
  const candidates = routes.split("\n").flatMap((line) => {
    const [name, destination, , flags = "0", , , metric = "0"] = line.split(/\s+/);
    const isUp = (Number.parseInt(flags, 16) & 1) === 1;
    return name !== undefined && destination === "00000000" && isUp ? [{ name, metric: Number(metric) }] : [];
  });
  return candidates.sort((a, b) => a.metric - b.metric)[0]?.name;
}

/**
 * Returns an address per family of the preferred interface, else of the first with one; none when only loopback is up.
 */
function primaryIps(interfaces: Interfaces, preferred: string | undefined): readonly string[] {
  const chosen = preferred === undefined ? undefined : interfaces[preferred];
  const all = chosen ?? Object.values(interfaces).flatMap((addresses) => addresses ?? []);
  const usable = all.filter(({ internal, address }) => !internal && !address.startsWith("fe80:"));
  const ofFamily = (family: "IPv4" | "IPv6"): readonly string[] =>
    usable
      .filter((each) => each.family === family)
      .map(({ address }) => address)
      .slice(0, 1);
  const ips = [...ofFamily("IPv4"), ...ofFamily("IPv6")];
  return ips.length > 0 || chosen === undefined ? ips : primaryIps(interfaces, undefined);
}

/** Resolves the name as the system does: hosts file, then DNS. */
const resolvedIps = (name: string): Promise<readonly string[]> =>
  lookup(name, { all: true }).then(
    (found) => found.map(({ address }) => address),
    () => [],
  );

/** Reads the addresses; `ips` is empty while only loopback is up. */
export async function readHostAddresses({ prefix = "", nodeName }: AddressOptions = {}): Promise<MachineAddresses> {
  const interfaces = os.networkInterfaces();
  const routes = await fs.readFile(`${prefix}/proc/net/route`, "utf8").catch(() => "");
  return {
    ips: primaryIps(interfaces, defaultInterface(routes)),
    interfaceIps: Object.values(interfaces).flatMap((addresses) => (addresses ?? []).map(({ address }) => address)),
    nameIps: nodeName === undefined ? [] : await resolvedIps(nodeName || os.hostname().trim().toLowerCase()),
  };
}
