/**
 * Resolves a network probe or hook: host, port, path and headers. Upstream: NewRequestForHTTPGetAction,
 * ResolveContainerPort.
 */
import type { Container } from "../api.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import type { HttpGetAction } from "./probeTypes.ts";

export interface HttpTarget {
  readonly scheme: "http" | "https";
  /** Name or address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Includes the query; ready for the request line. */
  readonly path: string;
  /** Ordered; names may repeat. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

const invalid = (message: string): KubeletError => kubeletError("InvalidArgument", message);

/** Resolves a port of the API: a number, the name of a container port, or a number as text. */
export function resolvePort(reference: number | string, { ports = [] }: Pick<Container, "ports">): Result<number> {
  if (typeof reference === "string") {
    const named = ports.find(({ name }) => name === reference);
    if (named === undefined && !/^[+-]?\d+$/.test(reference)) {
      return err(invalid(`strconv.Atoi: parsing ${JSON.stringify(reference)}: invalid syntax`));
    }
    return inRange(named?.containerPort ?? Number(reference));
  }
  return inRange(reference);
}

const inRange = (port: number): Result<number> =>
  port > 0 && port < 65_536 ? ok(port) : err(invalid(`invalid port number: ${port}`));

/** Drops scheme and host from a path that is a full URL, and the fragment, which is never sent. */
function requestPath(path: string): string {
  const [local = ""] = path.replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/?#]*/i, "").split("#", 1);
  const rooted = local.startsWith("/") ? local : `/${local}`;
  return rooted.toWellFormed().replace(/[^!-~]|["<>\\^`{|}]/gu, (character) => encodeURIComponent(character));
}

/** Returns the headers of the spec, with defaults for User-Agent and Accept. An empty Accept sends none. */
function requestHeaders(given: HttpGetAction["httpHeaders"], userAgent: string): HttpTarget["headers"] {
  const headers = (given ?? []).map(({ name = "", value = "" }) => [name, value] as const);
  const first = (wanted: string): string | undefined => headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
  const sent = first("accept") === "" ? headers.filter(([name]) => name.toLowerCase() !== "accept") : headers;
  return [
    ...sent,
    ...(first("user-agent") === undefined ? [["User-Agent", userAgent] as const] : []),
    ...(first("accept") === undefined ? [["Accept", "*/*"] as const] : []),
  ];
}

/** Resolves an httpGet action; fails when its port cannot be resolved. The host defaults to `podIp`. */
export function httpTarget(
  action: HttpGetAction,
  container: Pick<Container, "ports">,
  podIp: string,
  userAgent: string,
): Result<HttpTarget> {
  const port = resolvePort(action.port, container);
  if (!port.ok) return port;
  return ok({
    scheme: action.scheme?.toUpperCase() === "HTTPS" ? "https" : "http",
    host: action.host === undefined || action.host === "" ? podIp : action.host,
    port: port.value,
    path: requestPath(action.path ?? ""),
    headers: requestHeaders(action.httpHeaders, userAgent),
  });
}

/** Returns `host:port`, with brackets around an IPv6 address. */
export const joinHostPort = (host: string, port: number): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
