/**
 * Results of network plugins, in one form for all versions of the Container Network Interface. Fields that no version
 * defines are dropped, as libcni does. Upstream: pkg/types/020, 040 and 100 of libcni.
 */
import { isAddressRange, isIPAddress } from "../config/nodeNames.ts";
import { kubeletError } from "../errors.ts";
import { isJsonObject } from "../json.ts";
import { err, ok, type Result } from "../result.ts";
import { type CniVersion, isAtLeast, isCniVersion } from "./cniVersion.ts";

/** Bound on each list of a result. */
const MAX_ENTRIES = 1024;
const MAX_QUOTED = 100;

/** An interface that a plugin made or found. */
export interface CniInterface {
  readonly name: string;
  readonly mac?: string;
  readonly mtu?: number;
  /** Namespace that it is in; absent on the machine itself. */
  readonly sandbox?: string;
  readonly socketPath?: string;
  readonly pciID?: string;
}

/** An address with the length of its network, such as `10.1.0.5/16`. */
export interface CniIp {
  readonly address: string;
  readonly gateway?: string;
  /** Index of its interface. */
  readonly interface?: number;
}

/** A route of the namespace. */
export interface CniRoute {
  readonly dst: string;
  readonly gw?: string;
  readonly mtu?: number;
  readonly advmss?: number;
  readonly priority?: number;
  readonly table?: number;
  readonly scope?: number;
}

/** Name servers that a plugin suggests. */
export interface CniDns {
  readonly nameservers?: readonly string[];
  readonly domain?: string;
  readonly search?: readonly string[];
  readonly options?: readonly string[];
}

/** A result in the form of version 1.0.0 and later. */
export interface CniResult {
  readonly interfaces: readonly CniInterface[];
  readonly ips: readonly CniIp[];
  readonly routes: readonly CniRoute[];
  readonly dns: CniDns;
}

type Document = Readonly<Record<string, unknown>>;

/** Ends the parse with the name of the field. */
class Fault extends Error {}

/**
 * Parses the JSON value that a plugin printed. A result without a version has that of its network.
 * Errors: Io with the field that is wrong.
 */
export function parseCniResult(value: unknown, networkVersion: CniVersion): Result<CniResult> {
  // A plugin that prints null has added nothing.
  const document = value === null ? {} : value;
  if (!isJsonObject(document)) return err(kubeletError("Io", "its result is not a JSON object"));
  const { cniVersion } = document;
  const version = cniVersion === undefined || cniVersion === "" ? networkVersion : cniVersion;
  if (typeof version !== "string" || !isCniVersion(version)) {
    return err(kubeletError("Io", `its result has the unknown cniVersion ${quoted(version)}`));
  }
  try {
    return ok(isAtLeast(version, "0.3.0") ? readResult(document) : readOldResult(document));
  } catch (thrown) {
    if (thrown instanceof Fault) return err(kubeletError("Io", `its result is wrong: ${thrown.message}`));
    throw thrown;
  }
}

const readResult = (document: Document): CniResult => ({
  interfaces: entries(document, "interfaces").map(readInterface),
  ips: entries(document, "ips").map((ip) => ({
    address: network(ip, "address"),
    ...optional("gateway", address(ip, "gateway")),
    ...optional("interface", whole(ip, "interface")),
  })),
  routes: entries(document, "routes").map(readRoute),
  dns: readDns(document["dns"]),
});

/** Reads a result of version 0.2.0 and earlier, which has at most one address of each family. */
function readOldResult(document: Document): CniResult {
  const found = ["ip4", "ip6"].flatMap((key) => {
    const value = document[key];
    if (value === undefined || value === null) return [];
    if (!isJsonObject(value)) throw new Fault(`${key} is not an object`);
    const gateway = address(value, "gateway");
    return [
      { ip: { address: network(value, "ip"), ...optional("gateway", gateway) }, routes: entries(value, "routes") },
    ];
  });
  return {
    interfaces: [],
    ips: found.map(({ ip }) => ip),
    routes: found.flatMap(({ routes }) => routes.map(readRoute)),
    dns: readDns(document["dns"]),
  };
}

function readInterface(document: Document): CniInterface {
  const { name } = document;
  if (typeof name !== "string") throw new Fault("an interface has no name");
  return {
    name,
    ...optional("mac", text(document, "mac")),
    ...optional("mtu", whole(document, "mtu")),
    ...optional("sandbox", text(document, "sandbox")),
    ...optional("socketPath", text(document, "socketPath")),
    ...optional("pciID", text(document, "pciID")),
  };
}

const readRoute = (document: Document): CniRoute => ({
  dst: network(document, "dst"),
  ...optional("gw", address(document, "gw")),
  ...optional("mtu", whole(document, "mtu")),
  ...optional("advmss", whole(document, "advmss")),
  ...optional("priority", whole(document, "priority")),
  ...optional("table", whole(document, "table")),
  ...optional("scope", whole(document, "scope")),
});

function readDns(value: unknown): CniDns {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw new Fault("dns is not an object");
  return {
    ...optional("nameservers", texts(value, "nameservers")),
    ...optional("domain", text(value, "domain")),
    ...optional("search", texts(value, "search")),
    ...optional("options", texts(value, "options")),
  };
}

const quoted = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, MAX_QUOTED);

const optional = <Key extends string, T>(key: Key, value: T | undefined): { readonly [K in Key]?: T } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: T };

function entries(document: Document, key: string): readonly Document[] {
  const value = document[key] ?? [];
  if (!Array.isArray(value)) throw new Fault(`${key} is not a list`);
  if (value.length > MAX_ENTRIES) throw new Fault(`${key} has more than ${MAX_ENTRIES} entries`);
  return value.map((each: unknown, index) => {
    if (!isJsonObject(each)) throw new Fault(`${key}[${index}] is not an object`);
    return each;
  });
}

/** Returns a text; undefined for one that is absent or empty. */
function text(document: Document, key: string): string | undefined {
  const value = document[key];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string") throw new Fault(`${key} is ${quoted(value)}, not a text`);
  return value;
}

function texts(document: Document, key: string): readonly string[] | undefined {
  const value = document[key] ?? [];
  if (!Array.isArray(value) || value.length > MAX_ENTRIES || !value.every((each) => typeof each === "string")) {
    throw new Fault(`${key} is not a list of at most ${MAX_ENTRIES} texts`);
  }
  return value.length === 0 ? undefined : value;
}

function whole(document: Document, key: string): number | undefined {
  const value = document[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw new Fault(`${key} is ${quoted(value)}, not a whole number`);
  }
  return value;
}

function address(document: Document, key: string): string | undefined {
  const value = text(document, key);
  if (value !== undefined && !isIPAddress(value)) throw new Fault(`${key} is ${quoted(value)}, not an IP address`);
  return value;
}

function network(document: Document, key: string): string {
  const value = text(document, key);
  if (value === undefined || !isAddressRange(value)) {
    throw new Fault(`${key} is ${quoted(value)}, not an IP address with the length of its network`);
  }
  return value;
}

/** Returns the IP address of `10.1.0.5/16`. */
const addressOf = (range: string): string => range.slice(0, range.indexOf("/"));
const isV6 = (range: string): boolean => range.includes(":");

/**
 * Returns the addresses of the pod, in the order of the result: those of the interface `ifName`, or else those that
 * are on no interface of the machine itself.
 */
export function podIps({ interfaces, ips }: CniResult, ifName: string): readonly string[] {
  const isOnMachine = ({ interface: index }: CniIp): boolean =>
    index !== undefined && interfaces[index]?.sandbox === undefined;
  const inside = ips.filter((ip) => !isOnMachine(ip));
  const own = inside.filter((ip) => ip.interface !== undefined && interfaces[ip.interface]?.name === ifName);
  return [...new Set((own.length > 0 ? own : inside).map(({ address: range }) => addressOf(range)))];
}

/**
 * Returns the JSON form of a result in a version. Errors: Io for a result without an address in a version before
 * 0.3.0, which requires one.
 */
export function formatCniResult(result: CniResult, cniVersion: CniVersion): Result<object> {
  const { interfaces, ips, routes, dns } = result;
  const named = Object.keys(dns).length === 0 ? {} : { dns };
  if (!isAtLeast(cniVersion, "0.3.0")) return oldResult(result, cniVersion, named);
  const isLater = isAtLeast(cniVersion, "1.0.0");
  return ok({
    cniVersion,
    ...(interfaces.length === 0 ? {} : { interfaces: isLater ? interfaces : interfaces.map(olderInterface) }),
    ...(ips.length === 0 ? {} : { ips: isLater ? ips : ips.map(olderIp) }),
    ...(routes.length === 0 ? {} : { routes }),
    ...named,
  });
}

const olderInterface = ({ name, mac, sandbox }: CniInterface): CniInterface => ({
  name,
  ...optional("mac", mac),
  ...optional("sandbox", sandbox),
});

const olderIp = (ip: CniIp): object => ({ version: isV6(ip.address) ? "6" : "4", ...ip });

function oldResult({ ips, routes }: CniResult, cniVersion: CniVersion, named: object): Result<object> {
  const part = (key: "ip4" | "ip6", isFamily: (range: string) => boolean): object => {
    const ip = ips.find((each) => isFamily(each.address));
    if (ip === undefined) return {};
    const own = routes.filter(({ dst }) => isFamily(dst)).map(({ dst, gw }) => ({ dst, ...optional("gw", gw) }));
    const gateway = optional("gateway", ip.gateway);
    return { [key]: { ip: ip.address, ...gateway, ...(own.length === 0 ? {} : { routes: own }) } };
  };
  const parts = { ...part("ip4", (range) => !isV6(range)), ...part("ip6", isV6) };
  if (Object.keys(parts).length > 0) return ok({ cniVersion, ...parts, ...named });
  return err(kubeletError("Io", `a result without an IP address has no form in version ${cniVersion}`));
}
