/** The proxy configured in the environment, by the rules of Go's net/http: HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
import { BlockList, isIP, isIPv4 } from "node:net";

type Environment = Readonly<Record<string, string | undefined>>;

const variable = (env: Environment, name: string): string => env[name] || env[name.toLowerCase()] || "";

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));

function isInNetwork(host: string, network: string): boolean {
  const [address = "", bits = ""] = network.split("/");
  if (isIP(host) === 0 || isIP(host) !== isIP(address) || !/^\d{1,3}$/.test(bits)) return false;
  const family = isIPv4(host) ? "ipv4" : "ipv6";
  if (Number(bits) > (family === "ipv4" ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(address, Number(bits), family);
  return list.check(host, family);
}

/** Returns whether a NO_PROXY entry matches the host: an address, a network, a domain with its subdomains, or all. */
function isMeant(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return isInNetwork(host, entry);
  const [, name = entry, wanted = ""] = /^(.*?)(?::(\d+))?$/.exec(isIP(entry) === 6 ? `${entry}:` : entry) ?? [];
  if (wanted !== "" && wanted !== port) return false;
  const domain = name.replace(/^\*?\.|:$/g, "");
  if (host === domain) return !/^\*?\./.test(name);
  return isIP(host) === 0 && host.endsWith(`.${domain}`);
}

/** Returns the URL of the proxy to `server`; undefined without a proxy. A URL without a scheme means HTTP. */
export function environmentProxy(server: string, env: Environment): string | undefined {
  const url = new URL(server);
  const proxy = variable(env, url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY");
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const exceptions = variable(env, "NO_PROXY")
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== "");
  if (proxy === "" || isLoopback(host) || exceptions.some((entry) => isMeant(entry, host, port))) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}
