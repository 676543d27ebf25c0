/** Reads the current addresses of this machine. Upstream: pkg/util/node. */
import { lookup } from "node:dns/promises";
import * as fs from "node:fs/promises";
import * as os from "node:os";
import type { MachineAddresses } from "../core/node/nodeFacts.ts";
import { defaultInterface, primaryIps } from "../core/node/primaryAddresses.ts";

/** Paths to read. */
export interface AddressOptions {
  /** Prefix of `/proc`, for tests. Default: none. */
  readonly prefix?: string;
  /**
   * Name of the node, to be looked up; empty is the host name. Absent: nothing is looked up, and `nameIps` is empty.
   */
  readonly nodeName?: string;
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
